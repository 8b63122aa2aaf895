"""Rounding down."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable import Variable


def floor(x: Any) -> Variable:
    """Elementwise floor: the largest integer that is not larger.

    The gradient is zero almost everywhere; the result is not connected to the graph.

    Args:
        x (Variable or array): Input of any shape.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Example:
        >>> F.floor(np.array([-1.5, 1.5]))
        variable([-2.,  1.])
    """
    array = x.array if isinstance(x, Variable) else x
    backend = backend_of(array)
    with backend.device_of(array):
        y = backend.asarray(backend.xp.floor(backend.to_xp(array)))
    return Variable(y, requires_grad=False)
