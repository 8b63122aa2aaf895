"""Elementwise summation with broadcasting."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.math._along_axis import along_axis_sections, broadcast_from_axis


@along_axis_sections(values="Values to add")
@explained_keywords
def bias(x: VariableLike, y: VariableLike, axis: int = 1) -> Variable:
    """Elementwise summation with broadcasting.

    Example:
        >>> F.bias(np.zeros((2, 3)), np.array([1., 2.]), axis=0)
        variable([[1., 1., 1.],
                  [2., 2., 2.]])
    """
    x, y = broadcast_from_axis(x, y, axis)
    return x + y
