"""Trigonometric functions."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions.math._elementwise import Elementwise
from chainer.functions.math._operand import check_broadcastable
from chainer.functions.math._operand import sum_to as sum_array_to


class Sin(Elementwise):
    """Sine."""

    def compute(self, x: Any) -> Any:
        return self.xp.sin(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return m.cos(x)


class Cos(Elementwise):
    """Cosine."""

    def compute(self, x: Any) -> Any:
        return self.xp.cos(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return -m.sin(x)


class Tan(Elementwise):
    """Tangent."""

    def compute(self, x: Any) -> Any:
        return self.xp.tan(x)

    def derivative(self, m: Any, x: Any) -> Any:
        y = m.tan(x)
        return y * y + 1

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_outputs((0,))
        return super().forward(inputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        slope = y * y
        slope += 1
        slope *= grad_outputs[0]
        return (slope,)


class Arcsin(Elementwise):
    """Inverse sine."""

    def compute(self, x: Any) -> Any:
        return self.xp.arcsin(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return 1 / m.sqrt(1 - x * x)


class Arccos(Elementwise):
    """Inverse cosine."""

    def compute(self, x: Any) -> Any:
        return self.xp.arccos(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return -1 / m.sqrt(1 - x * x)


class Arctan(Elementwise):
    """Inverse tangent."""

    def compute(self, x: Any) -> Any:
        return self.xp.arctan(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return 1 / (x * x + 1)


class Arctan2(FunctionNode):
    """Inverse tangent of a quotient, in the right quadrant."""

    type_check_key = ()

    @property
    def label(self) -> str:
        return "arctan2"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        type_check.expect(
            in_types[0].dtype.kind == "f",
            in_types[0].dtype == in_types[1].dtype,
        )
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        return (self.xp.arctan2(*inputs),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.math.sum import sum_to

        x1, x2 = self.get_retained_inputs()
        scaled = grad_outputs[0] / (x1 * x1 + x2 * x2)
        gradients = {
            0: lambda: sum_to(x2 * scaled, x1.shape),
            1: lambda: sum_to(-x1 * scaled, x2.shape),
        }
        return tuple([gradients[i]() for i in target_input_indexes])

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x1, x2 = self.retained_input_arrays
        scaled = grad_outputs[0] / (x1 * x1 + x2 * x2)
        gradients = {
            0: lambda: sum_array_to(x2 * scaled, x1.shape),
            1: lambda: sum_array_to(-x1 * scaled, x2.shape),
        }
        return tuple([gradients[i]() for i in target_input_indexes])


def sin(x: Any) -> Variable:
    """Elementwise sine.

    Args:
        x (Variable or array): Angles in radians, of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.sin(np.array([0.]))
        variable([0.])
    """
    return Sin().apply((x,))[0]


def cos(x: Any) -> Variable:
    """Elementwise cosine.

    Args:
        x (Variable or array): Angles in radians, of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.cos(np.array([0.]))
        variable([1.])
    """
    return Cos().apply((x,))[0]


def tan(x: Any) -> Variable:
    """Elementwise tangent.

    Args:
        x (Variable or array): Angles in radians, of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.tan(np.array([0.]))
        variable([0.])
    """
    return Tan().apply((x,))[0]


def arcsin(x: Any) -> Variable:
    """Elementwise inverse sine.

    Args:
        x (Variable or array): Numbers in ``[-1, 1]``, of any shape, floating point.

    Returns:
        Variable: Angles in ``[-pi/2, pi/2]``, of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.arcsin(np.array([0.]))
        variable([0.])
    """
    return Arcsin().apply((x,))[0]


def arccos(x: Any) -> Variable:
    """Elementwise inverse cosine.

    Args:
        x (Variable or array): Numbers in ``[-1, 1]``, of any shape, floating point.

    Returns:
        Variable: Angles in ``[0, pi]``, of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.arccos(np.array([1.]))
        variable([0.])
    """
    return Arccos().apply((x,))[0]


def arctan(x: Any) -> Variable:
    """Elementwise inverse tangent.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Angles in ``(-pi/2, pi/2)``, of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.arctan(np.array([0.]))
        variable([0.])
    """
    return Arctan().apply((x,))[0]


def arctan2(x1: Any, x2: Any) -> Variable:
    """Elementwise inverse tangent of ``x1 / x2`` in the quadrant of the point ``(x2, x1)``.

    Args:
        x1 (Variable or array): Ordinates, floating point.
        x2 (Variable or array): Abscissas of the same dtype and of a shape that broadcasts with that
            of ``x1``.

    Returns:
        Variable: Angles in ``[-pi, pi]``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.arctan2(np.array([0.]), np.array([1.]))
        variable([0.])
    """
    return Arctan2().apply((x1, x2))[0]
