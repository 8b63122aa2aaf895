"""Function nodes that are applied by calling them, as well as by their method ``apply``."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable


class CallableNode:
    """Mixin for nodes that were old-style functions in release 7, called as ``Hinge()(x, t)``."""

    def __call__(self, *inputs: Any) -> Variable | tuple[Variable, ...]:
        """Applies the function.

        Args:
            inputs: Variables or arrays.

        Returns:
            The output, or a tuple if there are several.
        """
        outputs: tuple[Variable, ...] = self.apply(inputs)  # type: ignore[attr-defined]
        return outputs[0] if len(outputs) == 1 else outputs
