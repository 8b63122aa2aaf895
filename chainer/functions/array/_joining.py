"""hstack, vstack and dstack: concatenation along one axis, after lifting arrays to enough axes."""

from __future__ import annotations

from typing import Any

from chainer.core.typing import Array, Arrays, Indexes, Shape, Variables
from chainer.core.utils import type_check
from chainer.functions.array._stacking import cut, expect_joinable, expect_stackable
from chainer.functions.array.concat import concat
from chainer.functions.array.reshape import reshape
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values
from chainer.functions.rules.batching import with_samples


class Join(ExpressionFunction):
    """Base of the three; subclasses say how arrays are lifted and which axis joins them."""

    is_linear = True

    type_check_key = ()

    #: Number of axes from which on arrays are joined as they are.
    full_ndim: int
    #: Axis along which arrays of that many axes are joined.
    axis: int

    def lifted_shape(self, shape: Shape) -> tuple[int, ...]:
        """Shape of an array of too few axes after lifting."""
        raise NotImplementedError

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        ndim = type_check.eval(in_types[0].ndim)
        if ndim >= self.full_ndim:
            expect_joinable(in_types, self.axis)
        else:
            expect_stackable(in_types)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        taken = with_samples(inputs, are_batched, size)
        if taken[0].ndim - 1 < self.full_ndim:
            taken = tuple([reshape(x, (size, *self.lifted_shape(x.shape[1:]))) for x in taken])
        return (concat(taken, axis=self.axis + 1),)

    def forward(self, inputs: Arrays) -> Arrays:
        if inputs[0].ndim < self.full_ndim:
            inputs = tuple([x.reshape(self.lifted_shape(x.shape)) for x in inputs])
        return (self.xp.concatenate(inputs, axis=self.axis),)

    def _split(self, gy: Array) -> list[Any]:
        shapes = [x.shape for x in self.input_nodes]
        if len(shapes[0]) >= self.full_ndim:
            return cut(gy, [shape[self.axis] for shape in shapes], self.axis)
        lifted = [self.lifted_shape(shape) for shape in shapes]
        pieces = cut(gy, [shape[self.axis] for shape in lifted], self.axis)
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        pieces = self._split(gy)
        return tuple([pieces[i] for i in targets])
