"""Conversion of dtypes."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.utils import type_check


class Cast(FunctionNode):
    """Converts an array to a dtype."""

    type_check_key = ()

    def __init__(self, typ: Any) -> None:
        self.type = numpy.dtype(typ)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (inputs[0].astype(self.type),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return (cast(grad_outputs[0], self.inputs[0].dtype),)  # type: ignore[index]

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (grad_outputs[0].astype(self.inputs[0].dtype),)  # type: ignore[index]


def cast(x: Any, typ: Any) -> Variable:
    """Casts an input variable to a given type.

    Args:
        x (:class:`~chainer.Variable` or array): Input variable of any shape.
        typ (str or numpy.dtype): Typecode or data type to cast to.

    Returns:
        ~chainer.Variable: Variable holding the cast array; ``x`` itself if it is of that dtype.

    Example:
        >>> x = np.arange(0, 3, dtype=np.float64)
        >>> F.cast(x, np.float32).dtype
        dtype('float32')
        >>> F.cast(x, 'float16').dtype
        dtype('float16')
    """
    if x.dtype == typ:
        return as_variable(x)
    return Cast(typ).apply((x,))[0]
