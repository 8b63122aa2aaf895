"""Arithmetic: the operators of Variable, ``add`` and ``absolute``."""

# The arrays of operands are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import numpy

from chainer.core.arrays.backend import backend_of, get_device_from_array
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.typing import ArrayLike, VariableLike
from chainer.core.utils import type_check
from chainer.functions._errors import InvalidValue
from chainer.functions.math._addition import (
    Absolute,
    Add,
    AddConstant,
    MultiAdd,
    Neg,
    Sub,
    SubFromConstant,
    warn_of_column_and_vector,
)
from chainer.functions.math._multiplication import Div, DivFromConstant, Mul, MulConstant
from chainer.functions.math._operand import (
    as_operand,
    check_operand,
    constant_label,
    is_scalar,
)
from chainer.functions.math._operators import need_no_node
from chainer.functions.math._power import PowConstVar, PowVarConst, PowVarVar
from chainer.functions.math.matmul import matmul_operator, reflected_matmul_operator

__all__ = [
    "Absolute",
    "Add",
    "AddConstant",
    "Div",
    "DivFromConstant",
    "Mul",
    "MulConstant",
    "MultiAdd",
    "Neg",
    "PowConstVar",
    "PowVarConst",
    "PowVarVar",
    "Sub",
    "SubFromConstant",
    "absolute",
    "add",
]


def add(*xs: VariableLike) -> Variable:
    """Element-wise addition.

    Shapes are broadcast; two operands are what ``x + y`` computes, more are added up at once.

    Args:
        xs (:class:`~chainer.Variable` or array): Operands, of one dtype. Of two operands one may
            be a scalar.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        InvalidType: If dtypes differ or shapes cannot be broadcast.
        TypeError: If there is no operand, or one of more than two is a scalar.

    Example:
        >>> x = np.array([1, 2], np.float32)
        >>> F.add(x, x, x)
        variable([3., 6.])
    """
    # One of two operands may be a number, as with the operator.
    if len(xs) == 2:
        return add_operator(*xs)
    if not xs:
        raise TypeError("add() needs at least one operand, got none")
    return MultiAdd().apply(xs)[0]


def absolute(x: VariableLike) -> Variable:
    """Element-wise absolute value.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output variable. The gradient is 0 where ``x`` is 0.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> F.absolute(np.array([-1, 2], np.float32))
        variable([1., 2.])
    """
    return Absolute().apply((x,))[0]


# The functions below are the operators of Variable. ``self`` is a Variable, or an array where
# ``add`` was called with two arrays; ``rhs`` is anything.


def negative_operator(self: VariableLike) -> Variable:
    """``-self``"""
    return Neg().apply((self,))[0]


def add_operator(self: VariableLike, rhs: ArrayLike) -> Variable:
    """``self + rhs``"""
    if isinstance(rhs, Variable):
        if not threads.state.enable_backprop and need_no_node(self, rhs):
            requires_grad = self._requires_grad or rhs._requires_grad
            return Variable._from_array(self._array + rhs._array, requires_grad)
        return Add().apply((self, rhs))[0]
    check_operand(rhs)
    return AddConstant(rhs).apply((self,))[0]


def subtract_operator(self: VariableLike, rhs: ArrayLike) -> Variable:
    """``self - rhs``"""
    if isinstance(rhs, Variable):
        return Sub().apply((self, rhs))[0]
    check_operand(rhs)
    if rhs.__class__ is numpy.ndarray and rhs.ndim < 3:  # else without the calls
        warn_of_column_and_vector(self.shape, rhs.shape)
    return AddConstant(_negated(rhs)).apply((self,))[0]


def _negated(value: ArrayLike) -> ArrayLike:
    if value.__class__ is float or value.__class__ is int:  # the usual case
        return -value
    if isinstance(value, (numpy.bool, numpy.unsignedinteger)):
        return -int(value)
    if is_scalar(value):
        return -value
    if type(value) is numpy.ndarray and value.dtype.kind not in "bu":
        return -value  # on its device, which need not be made current
    with get_device_from_array(value):
        return -(value.astype(numpy.int64) if value.dtype.kind in "bu" else value)


def reflected_subtract_operator(self: VariableLike, lhs: ArrayLike) -> Variable:
    """``lhs - self``"""
    if isinstance(lhs, Variable):
        return Sub().apply((lhs, self))[0]
    check_operand(lhs)
    if lhs.__class__ is numpy.ndarray:
        warn_of_column_and_vector(lhs.shape, self.shape)
    return SubFromConstant(lhs).apply((self,))[0]


def multiply_operator(self: VariableLike, rhs: ArrayLike) -> Variable:
    """``self * rhs``"""
    if isinstance(rhs, Variable):
        if not threads.state.enable_backprop and need_no_node(self, rhs):
            requires_grad = self._requires_grad or rhs._requires_grad
            return Variable._from_array(self._array * rhs._array, requires_grad)
        return Mul().apply((self, rhs))[0]
    check_operand(rhs)
    return MulConstant(rhs).apply((self,))[0]


def divide_operator(self: VariableLike, rhs: ArrayLike) -> Variable:
    """``self / rhs``"""
    if isinstance(rhs, Variable):
        return Div().apply((self, rhs))[0]
    check_operand(rhs)
    if kind_of(self.dtype) not in "fc":
        # The inverse of most constants is not an integer.
        raise type_check.InvalidType(
            "in_types[0].dtype.kind == f",
            f"{self.dtype.kind} != f",
            msg="\nInvalid operation is performed in: _ / constant (Forward)\n\n"
            f"Expect: in_types[0].dtype.kind == f\nActual: {self.dtype.kind} != f",
        )
    if is_scalar(rhs):
        return MulConstant(_inverse(rhs)).apply((self,))[0]
    # Not a product: the inverse of a small element would be infinite.
    x = self.array if isinstance(self, Variable) else self
    return Div().apply((self, as_operand(rhs, x, backend_of(x).xp)))[0]


def _inverse(value: ArrayLike) -> ArrayLike:
    """Returns the inverse of a number."""
    if value == 0:
        return 1 / numpy.float64(0)  # a warning and inf, as arrays have it
    return 1.0 / (value.item() if isinstance(value, numpy.generic) else value)


def reflected_divide_operator(self: VariableLike, lhs: ArrayLike) -> Variable:
    """``lhs / self``"""
    if isinstance(lhs, Variable):
        return Div().apply((lhs, self))[0]
    check_operand(lhs)
    return DivFromConstant(lhs).apply((self,))[0]


def floor_divide_operator(self: VariableLike, rhs: ArrayLike) -> Variable:
    """``self // rhs``; no gradient flows through it."""
    return _floor_divide(self, rhs, reflected=False)


def reflected_floor_divide_operator(self: VariableLike, lhs: ArrayLike) -> Variable:
    """``lhs // self``; no gradient flows through it."""
    return _floor_divide(self, lhs, reflected=True)


def _floor_divide(self: Variable, other: ArrayLike, reflected: bool) -> Variable:
    x = self.array
    if isinstance(other, Variable):
        types = type_check.get_types((x, other.array), "in_types")
        type_check.expect(types[0].dtype == types[1].dtype)
        other = other.array
    check_operand(other)
    other = as_operand(other, x, backend_of(x).xp)
    try:
        numpy.broadcast_shapes(x.shape, other.shape if hasattr(other, "shape") else ())
    except ValueError:
        raise InvalidValue(
            "x.shape and y.shape can be broadcast", f"{x.shape}, {other.shape}"
        ) from None
    y = other // x if reflected else x // other
    return Variable(numpy.asarray(y) if isinstance(y, numpy.generic) else y, requires_grad=False)


def power_operator(self: VariableLike, rhs: ArrayLike) -> Variable:
    """``self ** rhs``"""
    if isinstance(rhs, Variable):
        return PowVarVar().apply((self, rhs))[0]
    check_operand(rhs)
    return PowVarConst(rhs).apply((self,))[0]


def reflected_power_operator(self: VariableLike, lhs: ArrayLike) -> Variable:
    """``lhs ** self``"""
    if isinstance(lhs, Variable):
        return PowVarVar().apply((lhs, self))[0]
    check_operand(lhs)
    return PowConstVar(lhs).apply((self,))[0]


def _convert_value_to_string(value: ArrayLike) -> str:
    """Returns the text that represents a constant operand in labels of nodes.

    Args:
        value: Number, array or Variable.

    Raises:
        ValueError: If it is something else.
    """
    if isinstance(value, Variable):
        return "constant array"
    check_operand(value)
    # NumPy scalars are shown like Python numbers.
    return constant_label(value.item() if isinstance(value, numpy.generic) else value)


def install_variable_arithmetics() -> None:
    """Does nothing: the operators of Variable come from the registry of its methods."""


# Names of the operators in releases 4 to 7.
neg = negative_operator
sub, rsub = subtract_operator, reflected_subtract_operator
mul = multiply_operator
div, rdiv = divide_operator, reflected_divide_operator
floordiv, rfloordiv = floor_divide_operator, reflected_floor_divide_operator
pow, rpow = power_operator, reflected_power_operator
matmul, rmatmul = matmul_operator, reflected_matmul_operator
