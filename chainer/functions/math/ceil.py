"""Rounding up."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable import Variable


def ceil(x: Any) -> Variable:
    """Elementwise ceil: the smallest integer that is not smaller.

    The gradient is zero almost everywhere; the result is not connected to the graph.

    Args:
        x (Variable or array): Input of any shape.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Example:
        >>> F.ceil(np.array([-1.5, 1.5]))
        variable([-1.,  2.])
    """
    array = x.array if isinstance(x, Variable) else x
    backend = backend_of(array)
    with backend.device_of(array):
        y = backend.asarray(backend.xp.ceil(backend.to_xp(array)))
    return Variable(y, requires_grad=False)
