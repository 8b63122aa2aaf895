"""What a captured step returns and reports: Variables without a graph."""

from __future__ import annotations

from typing import Any, NoReturn

from chainer.core.autograd.variable import Variable


class CapturedVariable(Variable):
    """A result of a captured step. It has a value, but no graph to differentiate."""

    __slots__ = ()

    def backward(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises an error: without it, nothing would happen silently.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(
            "a result of a captured step has no graph, so that backward() can compute nothing; "
            "call backward() within the step, or do not capture it"
        )
