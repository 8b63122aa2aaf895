"""Transposition of a list of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes
from chainer.core.utils import type_check
from chainer.functions.array.cast import in_dtype
from chainer.functions.rules import LinearMap
from chainer.functions.rules.batching import SequencesFirst


class TransposeSequence(SequencesFirst, LinearMap):
    """Turns sequences of time steps into time steps of sequences."""

    added_axes = 1
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        types = list(in_types)
        for x_type, next_type in pairwise(types):
            type_check.expect(
                x_type.shape[0] >= next_type.shape[0],
                x_type.shape[1:] == next_type.shape[1:],
                x_type.dtype == next_type.dtype,
            )

    def forward(self, inputs: Arrays) -> Arrays:
        xp = self.xp
        lengths = [len(x) for x in inputs]
        tail = inputs[0].shape[1:]
        dtype = inputs[0].dtype
        steps: list[Any] = []
        # Time steps that the same sequences reach are copied at once.
        for count in range(len(inputs), 0, -1):
            begin, end = len(steps), lengths[count - 1]
            if begin < end:
                block = xp.empty((end - begin, count, *tail), dtype=dtype)
                for i, x in enumerate(inputs[:count]):
                    block[:, i] = x[begin:end]
                steps.extend(block)
        return tuple(steps)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        shapes = [node.shape for node in self.input_nodes]
        dtype = self.input_nodes[0].dtype
        gys: list[Array] = []
        for t, gy in enumerate(grad_outputs):
            # A time step that nothing depends on has no gradient: zeros take its place.
            if gy is None:
                count = sum(shape[0] > t for shape in shapes)
                gy = self.xp.zeros((count, *shapes[0][1:]), dtype=dtype)
            gys.append(gy)
        gxs = list(self.forward(tuple(gys))) if gys else []
        # Sequences without any time step do not come back.
        gxs += [self.xp.zeros(shape, dtype=dtype) for shape in shapes[len(gxs) :]]
        return tuple([gxs[i] for i in target_input_indexes])


def transpose_sequence(xs: Sequence[Any]) -> tuple[Variable, ...]:
    """Transposes a list of variables: time steps of sequences for sequences of time steps.

    Args:
        xs (list of Variable or array): Sequences of shapes ``(l_i, ...)``, sorted by descending
            length.

    Returns:
        tuple of Variable: For each time step, the elements of the sequences that reach it, in the
        dtype of the first sequence.

    Raises:
        InvalidType: If the lengths increase, or other shapes differ, or dtypes that are not all
            of floating-point numbers.

    Example:
        >>> F.transpose_sequence([np.array([1, 2, 3]), np.array([4, 5]), np.array([6])])
        (variable([1, 4, 6]), variable([2, 5]), variable([3]))
    """
    if not xs:
        return ()
    if len({x.dtype for x in xs}) > 1 and all(x.dtype.kind == "f" for x in xs):
        xs = [in_dtype(x, xs[0].dtype) for x in xs]
    return TransposeSequence().apply(xs)
