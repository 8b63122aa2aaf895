"""Elementwise functions whose derivative is zero wherever it exists."""

from __future__ import annotations

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike


def apply_without_gradient(name: str, x: VariableLike) -> Variable:
    """Returns the values of a function as a variable that is not connected to the graph.

    Args:
        name: Name of the function in array namespaces.
        x: Input of any shape.
    """
    array = x.array if isinstance(x, Variable) else x
    backend = backend_of(array)
    with backend.device_of(array):
        y = backend.asarray(getattr(backend.xp, name)(backend.to_xp(array)))
    return Variable(y, requires_grad=False)
