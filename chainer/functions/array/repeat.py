"""Repetition of elements."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable


class Repeat(FunctionNode):
    """Repeats the elements of an array along an axis."""

    def __init__(self, repeats: Any, axis: int | None = None) -> None:
        if isinstance(repeats, (int, numpy.integer)):
            repeats = (int(repeats),)
        if not isinstance(repeats, tuple) or not all(
            isinstance(r, (int, numpy.integer)) for r in repeats
        ):
            raise TypeError(f"repeats must be int or tuple of ints, got {repeats!r}")
        if any(r < 0 for r in repeats):
            raise ValueError(f"all elements in repeats must be zero or larger, got {repeats}")
        if axis is not None and (not isinstance(axis, int) or isinstance(axis, bool)):
            raise TypeError(f"axis must be int or None, got {axis!r}")
        self.repeats: tuple[int, ...] = repeats
        self.axis = axis

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        repeats = self.repeats[0] if len(self.repeats) == 1 else list(self.repeats)
        return (self.xp.repeat(x, repeats, self.axis),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return RepeatGrad(self.repeats, self.axis, self.inputs[0].shape).apply(grad_outputs)  # type: ignore[index]


class RepeatGrad(FunctionNode):
    """Sums the repetitions of each element."""

    def __init__(self, repeats: tuple[int, ...], axis: int | None, in_shape: Any) -> None:
        self.repeats = repeats
        self.axis = axis
        self.in_shape = in_shape

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        xp = self.xp
        axis = self.axis
        in_shape = self.in_shape
        if axis is None:
            length, before, after = int(numpy.prod(in_shape)), 1, 1
        else:
            axis %= len(in_shape)
            length = in_shape[axis]
            before = int(numpy.prod(in_shape[:axis]))
            after = int(numpy.prod(in_shape[axis + 1 :]))
        if len(self.repeats) == 1:
            return (
                self._sum_copies(gy.reshape(before, length, self.repeats[0], after)).reshape(
                    in_shape
                ),
            )
        gx = xp.zeros((before, length, after), dtype=gy.dtype)
        gy = gy.reshape(before, -1, after)
        start = 0
        for i, count in enumerate(self.repeats):
            gx[:, i] = gy[:, start : start + count].sum(axis=1)
            start += count
        return (gx.reshape(in_shape),)

    def _sum_copies(self, gy: Any) -> Any:
        """Sums along axis 2; a few additions are faster than sums of a few elements each."""
        count = self.repeats[0]
        if not 0 < count <= 16:
            return gy.sum(axis=2)
        gx = gy[:, :, 0].copy()
        for k in range(1, count):
            gx += gy[:, :, k]
        return gx

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return Repeat(self.repeats, self.axis).apply(grad_outputs)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Variable:
    """Constructs an array by repeating each element of a given array.

    Args:
        x (Variable or array): Input of any shape.
        repeats (int or tuple of ints): Number of repetitions of each element, or of each along the
            axis.
        axis (int): Axis along which to repeat; by default the flattened input is used.

    Returns:
        Variable: The repeated output.

    Raises:
        TypeError: If ``repeats`` or ``axis`` is of a wrong type.
        ValueError: If a number of repetitions is negative, or their number does not fit.

    Example:
        >>> F.repeat(np.array([0, 1, 2]), 2)
        variable([0, 0, 1, 1, 2, 2])
        >>> F.repeat(np.array([[0, 1], [2, 3]]), (2, 1), axis=0)
        variable([[0, 1],
                  [0, 1],
                  [2, 3]])
    """
    return Repeat(repeats, axis).apply((x,))[0]
