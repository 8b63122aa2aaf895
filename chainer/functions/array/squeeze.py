"""Removal of axes of length one."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._scalars import as_int
from chainer.functions.array.reshape import ShapeChange


class Squeeze(ShapeChange):
    """Removes axes of length one, without copy."""

    type_check_key = ("axis",)

    def __init__(self, axis: int | tuple[int, ...] | None = None) -> None:
        self.axis: tuple[int, ...] | None = None
        if axis is not None:
            error_message = f"axis must be None, int or tuple of ints, got {axis!r}"
            axes = axis if isinstance(axis, tuple) else (axis,)
            self.axis = tuple([as_int(a, error_message) for a in axes])

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        for a in self.axis or ():
            if a >= 0:
                type_check.expect(in_types[0].ndim > a)
            else:
                type_check.expect(-in_types[0].ndim <= a)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.squeeze(inputs[0], self.axis),)


@explained_keywords
def squeeze(x: VariableLike, axis: int | tuple[int, ...] | None = None) -> Variable:
    """Removes dimensions of size one from the shape of an array.

    Args:
        x (:class:`~chainer.Variable` or array): Input variable of shape
            :math:`(s_1, s_2, ..., s_N)`.
        axis (None or int or tuple of ints): A subset of the dimensions of length one to remove. If
            None, all of them are removed.

    Returns:
        ~chainer.Variable: Variable whose dimensions of size 1 are removed.

    Raises:
        ValueError: If an axis of another length is selected, or one is selected twice.
        InvalidType: If there is no such axis.
        TypeError: If ``axis`` is something else.

    Example:
        >>> x = np.array([[[[0, 1, 2]]], [[[3, 4, 5]]]], np.float32)
        >>> x.shape
        (2, 1, 1, 3)
        >>> F.squeeze(x).shape
        (2, 3)
        >>> F.squeeze(x, axis=1).shape
        (2, 1, 3)
        >>> F.squeeze(x, axis=(1, 2)).shape
        (2, 3)
    """
    return Squeeze(axis).apply((x,))[0]
