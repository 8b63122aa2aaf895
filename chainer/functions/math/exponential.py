"""Exponential function and logarithms."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Exp(FunctionNode):
    """Exponential function."""

    label = "exp"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_outputs((0,))
        return (self.xp.exp(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.get_retained_outputs()
        return (y * grad_outputs[0],)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (y * grad_outputs[0],)


class Log(FunctionNode):
    """Natural logarithm; base of those to other bases."""

    label = "log"  # type: ignore[assignment]
    type_check_key = ()

    #: Natural logarithm of the base; None where it is one.
    log_base: ClassVar[float | None] = None

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        return (getattr(self.xp, self.label)(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x,) = self.get_retained_inputs()
        return (self._gradient(x, grad_outputs[0]),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        return (self._gradient(x, grad_outputs[0]),)

    def _gradient(self, x: Any, gy: Any) -> Any:
        gx = gy / x
        return gx if self.log_base is None else gx * (1 / self.log_base)


class Log2(Log):
    """Logarithm to base 2."""

    label = "log2"  # type: ignore[assignment]
    log_base = math.log(2)


class Log10(Log):
    """Logarithm to base 10."""

    label = "log10"  # type: ignore[assignment]
    log_base = math.log(10)


def exp(x: Any) -> Variable:
    """Elementwise exponential function.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output variable.

    Example:
        >>> F.exp(np.array([0., 1.]))
        variable([1.        , 2.71828183])
    """
    return Exp().apply((x,))[0]


def log(x: Any) -> Variable:
    """Elementwise natural logarithm function.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output variable.

    Example:
        >>> F.log(np.array([1., 2.]))
        variable([0.        , 0.69314718])
    """
    return Log().apply((x,))[0]


def log2(x: Any) -> Variable:
    """Elementwise logarithm function to the base 2.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output variable.

    Example:
        >>> F.log2(np.array([1., 8.]))
        variable([0., 3.])
    """
    return Log2().apply((x,))[0]


def log10(x: Any) -> Variable:
    """Elementwise logarithm function to the base 10.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output variable.

    Example:
        >>> F.log10(np.array([1., 100.]))
        variable([0., 2.])
    """
    return Log10().apply((x,))[0]
