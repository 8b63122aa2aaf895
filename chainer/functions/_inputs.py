"""Errors for an input that is not an array, raised by functions that look at it before they run."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.lookup import is_array, not_an_array_message
from chainer.core.autograd.variable import Variable


def require_array(*inputs: Any) -> None:
    """Checks that inputs are variables or arrays.

    Meant for the ``except`` clause of code that uses an attribute of an input: there it costs
    nothing unless something is wrong.

    Args:
        inputs: The inputs.

    Raises:
        TypeError: If one of them is not. All functions use the same message.
    """
    for x in inputs:
        if not isinstance(x, Variable) and not is_array(x):
            raise TypeError(not_an_array_message(x)) from None
