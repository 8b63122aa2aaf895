"""Horizontal concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Variables
from chainer.core.utils import type_check
from chainer.functions.array._joining import Join
from chainer.functions.array._stacking import cut
from chainer.functions.array.concat import concat
from chainer.functions.rules.batching import flat_samples, with_samples


class Hstack(Join):
    """Concatenation along the second axis; vectors are put one after the other."""

    full_ndim = 2
    axis = 1

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        if type_check.eval(first.ndim) >= 2:
            super().check_type_forward(in_types)
            return
        for other in list(in_types)[1:]:
            type_check.expect(first.dtype == other.dtype, first.ndim == other.ndim)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        taken = with_samples(inputs, are_batched, size)
        if taken[0].ndim > 2:
            return super().batched(inputs, are_batched, size)
        return (concat([flat_samples(x) for x in taken], axis=1),)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.hstack(inputs),)

    def _split(self, gy: Array) -> list[Any]:
        shapes = [x.shape for x in self.input_nodes]
        if len(shapes[0]) >= 2:
            return super()._split(gy)
        pieces = cut(gy, [shape[0] if shape else 1 for shape in shapes], 0)
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def hstack(xs: Sequence[Any]) -> Variable:
    """Concatenates variables horizontally (column wise).

    Args:
        xs (list of Variable or array): Variables of the same dtype and number of axes. With two
            axes or more, their shapes agree along all but the second axis.

    Returns:
        Variable: Concatenation along the second axis, or of vectors and scalars to one vector.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.hstack((np.array([1, 2]), np.array([3])))
        variable([1, 2, 3])
    """
    return Hstack().apply(xs)[0]
