"""Permutation of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.functions.rules import Ops, UnaryFunction, Value, expect_one_array
from chainer.functions.rules.batching import ShiftsAxes, shifted_axis


class Transpose(ShiftsAxes, UnaryFunction):
    """Permutes the dimensions of an input without copy."""

    is_linear = True

    type_check_key = ()

    def __init__(self, axes: tuple[int, ...] | None = None) -> None:
        self.axes = axes

    check_type_forward = expect_one_array

    def forward(self, inputs: Arrays) -> Arrays:
        return (inputs[0].transpose(self.axes),)

    def attributes_of_batch(self, ndim: int) -> dict[str, Any]:
        axes = tuple(range(ndim - 1, -1, -1)) if self.axes is None else tuple(self.axes)
        return {"axes": (0, *shifted_axis(axes, ndim))}

    def gradient(self, ops: Ops, gy: Value) -> Value:
        axes = self.axes
        # All axes were reversed, which is its own inverse.
        if axes is None:
            return gy.transpose()
        ndim = len(axes)
        inverse = [0] * ndim
        for target, source in enumerate(axes):
            inverse[source % ndim] = target
        return gy.transpose(tuple(inverse))


def transpose(x: VariableLike, axes: Sequence[int] | None = None) -> Variable:
    """Permutes the dimensions of an input variable without copy.

    Args:
        x (:class:`~chainer.Variable` or array): Input of shape :math:`(s_1, s_2, ..., s_N)`.
        axes (tuple of ints): Permutation. By default the dimensions are reversed.

    Returns:
        ~chainer.Variable: Variable whose axes are permuted.

    Raises:
        ValueError: If ``axes`` is not a permutation of the axes of ``x``.

    Example:
        >>> x = np.array([[[0, 1, 2], [3, 4, 5]]], np.float32)
        >>> F.transpose(x).shape  # reverses the dimensions
        (3, 2, 1)
        >>> F.transpose(x, axes=(1, 0, 2)).shape
        (2, 1, 3)
    """
    if isinstance(axes, int):
        axes = (axes,)
    return Transpose(None if axes is None else tuple(axes)).apply((x,))[0]


def transpose_method(self: Variable, *axes: Any) -> Variable:
    """Implements ``Variable.transpose``: axes as one tuple or list, one by one, or none."""
    if not axes:
        return transpose(self)
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        return transpose(self, axes[0])
    return transpose(self, axes)
