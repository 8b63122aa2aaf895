"""Padding sequences to equal length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Indexes
from chainer.core.utils import type_check
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values


class PadSequence(ExpressionFunction):
    """Puts sequences of different lengths into one array."""

    type_check_key = ("length",)

    def __init__(self, length: int | None, padding: float) -> None:
        self.length = length
        self.padding = padding

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        type_check.expect(first.ndim > 0)
        if self.length is not None:
            type_check.expect(first.shape[0] <= self.length)
        for other in list(in_types)[1:]:
            type_check.expect(other.ndim > 0)
            if self.length is not None:
                type_check.expect(other.shape[0] <= self.length)
            type_check.expect(other.dtype == first.dtype, other.shape[1:] == first.shape[1:])

    def forward(self, inputs: Arrays) -> Arrays:
        xs = inputs
        length = max([len(x) for x in xs]) if self.length is None else self.length
        shape = (len(xs), length, *xs[0].shape[1:])
        # Every element is written once, either from a sequence or as padding.
        dtype = xs[0].dtype
        y = self.xp.empty(shape, dtype=dtype)
        padding = self.padding
        if isinstance(padding, int) and getattr(dtype, "kind", "") in "iu":
            # A number out of the range wraps round, as it does when an array is cast: -1 is the
            # largest number of an unsigned type. NumPy refuses to assign it.
            padding = numpy.asarray(padding).astype(dtype).item()
        for row, x in zip(y, xs, strict=True):
            row[: len(x)] = x
            row[len(x) :] = padding
        return (y,)

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        return tuple([gy[i, : self.input_shape(i)[0]] for i in targets])


def pad_sequence(xs: Sequence[Any], length: int | None = None, padding: float = 0) -> Variable:
    """Pads given arrays to make a matrix.

    Args:
        xs (list of Variable or array): Sequences of shapes ``(l_i, ...)`` that agree in all but the
            first axis.
        length (None or int): Length of a padded sequence; by default the longest of ``xs``.
        padding (int or float): Value to fill with.

    Returns:
        Variable: Padded sequences, shape ``(len(xs), length, ...)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or a sequence is longer than ``length``.

    Example:
        >>> F.pad_sequence([np.array([1, 2, 3]), np.array([4])])
        variable([[1, 2, 3],
                  [4, 0, 0]])
    """
    return PadSequence(length, padding).apply(xs)[0]
