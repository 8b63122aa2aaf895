"""hstack, vstack and dstack: concatenation along one axis, after lifting arrays to enough axes."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.functions.array._stacking import cut, expect_joinable, expect_stackable


class Join(FunctionNode):
    """Base of the three; subclasses say how arrays are lifted and which axis joins them."""

    type_check_key = ()

    #: Number of axes from which on arrays are joined as they are.
    full_ndim: int
    #: Axis along which arrays of that many axes are joined.
    axis: int

    def lifted_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of an array of too few axes after lifting."""
        raise NotImplementedError

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        ndim = type_check.eval(in_types[0].ndim)
        if ndim >= self.full_ndim:
            expect_joinable(in_types, self.axis)
        else:
            expect_stackable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        if inputs[0].ndim < self.full_ndim:
            inputs = tuple([x.reshape(self.lifted_shape(x.shape)) for x in inputs])
        return (self.xp.concatenate(inputs, axis=self.axis),)

    def _split(self, gy: Any) -> list[Any]:
        shapes = [x.shape for x in self.inputs or ()]
        if len(shapes[0]) >= self.full_ndim:
            return cut(gy, [shape[self.axis] for shape in shapes], self.axis)
        lifted = [self.lifted_shape(shape) for shape in shapes]
        pieces = cut(gy, [shape[self.axis] for shape in lifted], self.axis)
        return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return tuple(self._split(grad_outputs[0]))

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        pieces = self._split(grad_outputs[0])
        return tuple([pieces[i] for i in target_input_indexes])
