"""Repetition of a whole array."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, IntTuple, VariableLike, Variables
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsAxes, with_rank


class Tile(ShiftsAxes, UnaryFunction):
    """Puts copies of an array side by side."""

    is_linear = True

    type_check_key = ()

    def __init__(self, reps: Any) -> None:
        if isinstance(reps, (int, numpy.integer)):
            reps = (int(reps),)
        if not isinstance(reps, tuple) or not all(
            isinstance(r, (int, numpy.integer)) for r in reps
        ):
            raise TypeError(f"reps must be int or tuple of ints.\nActual: {type(reps)}")
        if any(r < 0 for r in reps):
            raise ValueError("All elements in reps must be zero or larger")
        self.reps: tuple[int, ...] = reps

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        # Axes that are added in front come after the samples.
        return super().batched((with_rank(inputs[0], True, len(self.reps)),), are_batched, size)

    def attributes_of_batch(self, ndim: int) -> dict[str, Any]:
        return {"reps": (1,) * (1 + ndim - len(self.reps)) + self.reps}

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.tile(inputs[0], self.reps),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        shape = self.input_shape(0)
        n = max(len(shape), len(self.reps))
        reps = (1,) * (n - len(self.reps)) + self.reps
        lengths = (1,) * (n - len(shape)) + shape
        # Separate the copies from what they are copies of, then add them up.
        pairs = [length for pair in zip(reps, lengths, strict=True) for length in pair]
        return ops.sum(gy.reshape(tuple(pairs)), axis=tuple(range(0, 2 * n, 2))).reshape(shape)


def tile(x: VariableLike, reps: IntTuple) -> Variable:
    """Constructs an array by tiling a given array.

    Args:
        x (Variable or array): Input of any shape.
        reps (int or tuple of ints): Number of copies along each axis. With more numbers than axes,
            axes are added in front; with fewer, the numbers apply to the last axes.

    Returns:
        Variable: The tiled output.

    Raises:
        TypeError: If ``reps`` is of a wrong type.
        ValueError: If a number is negative.

    Example:
        >>> F.tile(np.array([0, 1, 2]), 2)
        variable([0, 1, 2, 0, 1, 2])
    """
    return Tile(reps).apply((x,))[0]
