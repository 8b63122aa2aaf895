"""What maximum and minimum share."""

from __future__ import annotations

from typing import Any, ClassVar

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.functions.math._operand import check_broadcastable
from chainer.functions.math._operand import sum_to as sum_array_to


class Extremum(FunctionNode):
    """Elementwise choice between two arrays; a tie goes to the first."""

    type_check_key = ()

    #: Name of the comparison and of the choice in the array namespace.
    comparison: ClassVar[str]
    choice: ClassVar[str]

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        type_check.expect(
            in_types[0].dtype.kind == "f",
            in_types[0].dtype == in_types[1].dtype,
        )
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        return (getattr(self.xp, self.choice)(*inputs),)

    def _chosen(self, index: int) -> Any:
        x1, x2 = self.retained_input_arrays
        first = getattr(self.xp, self.comparison)(x1, x2)
        return first if index == 0 else ~first

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.math.sum import sum_to

        (gy,) = grad_outputs
        return tuple(
            [
                sum_to(gy * self._chosen(i).astype(gy.dtype), self.inputs[i].shape)  # type: ignore[index]
                for i in target_input_indexes
            ]
        )

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (gy,) = grad_outputs
        return tuple(
            [
                sum_array_to(gy * self._chosen(i), self.inputs[i].shape)  # type: ignore[index]
                for i in target_input_indexes
            ]
        )
