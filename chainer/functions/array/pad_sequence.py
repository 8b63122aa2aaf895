"""Padding sequences to equal length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, DType, Indexes
from chainer.core.utils import type_check
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values
from chainer.functions.rules.batching import SequencesFirst


class PadSequence(SequencesFirst, ExpressionFunction):
    """Puts sequences of different lengths into one array."""

    added_axes = 2
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
        if isinstance(padding, (int, float)) and getattr(dtype, "kind", "") in "iu":
            padding = _wrapped(padding, dtype)
        for row, x in zip(y, xs, strict=True):
            row[: len(x)] = x
            row[len(x) :] = padding
        return (y,)

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        return tuple([gy[i, : self.input_shape(i)[0]] for i in targets])


def _wrapped(padding: float, dtype: DType) -> int:
    """Returns a number as an array has it after a cast, which NumPy refuses for a number.

    A number out of the range wraps round: -1 is the largest number of an unsigned type.
    """
    # Fractions are cut off; NaN and infinities are an error.
    whole = int(padding)
    if not -(2**63) <= whole < 2**64:
        raise OverflowError(f"padding must be an integer of 64 bits at most, got {padding}")
    return numpy.asarray(whole % 2 ** (8 * dtype.itemsize), numpy.uint64).astype(dtype).item()


def pad_sequence(xs: Sequence[Any], length: int | None = None, padding: float = 0) -> Variable:
    """Pads given arrays to make a matrix.

    Args:
        xs (list of Variable or array): Sequences of shapes ``(l_i, ...)`` that agree in all but the
            first axis.
        length (None or int): Length of a padded sequence; by default the longest of ``xs``.
        padding (int or float): Value to fill with. An integer dtype drops the fraction, and wraps a
            value out of its range as ``astype`` does: -1 in uint8 is 255.

    Returns:
        Variable: Padded sequences, shape ``(len(xs), length, ...)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or a sequence is longer than ``length``.
        ValueError, OverflowError: If the sequences are integers and ``padding`` is NaN or infinite.

    Example:
        >>> F.pad_sequence([np.array([1, 2, 3]), np.array([4])])
        variable([[1, 2, 3],
                  [4, 0, 0]])
    """
    return PadSequence(length, padding).apply(xs)[0]
