"""Constant operands of the operators of Variable, and checks of operands."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.backend import find_backend, not_an_array_message
from chainer.core.autograd.gradient_arrays import ONE_DEVICE
from chainer.core.typing import Array, ArrayModule, DType, Shape
from chainer.core.utils import type_check
from chainer.functions._errors import InvalidValue

_SCALARS = (int, float, complex, numpy.generic)  # bool is an int


#: A constant with one element for each row is repeated along rows of at most this length. NumPy
#: starts a loop for each row: a product of shapes (576, 16) and (576, 1) takes 8 us, the repetition
#: 2.5 and the product of equal shapes 2. The gradients multiply by the same constant.
_LONGEST_ROW = 24
#: Smaller products take a microsecond or two.
_FEWEST_ELEMENTS = 512
#: The repeated constant lives as long as the graph: 64 KB of float32 at most.
_MOST_ELEMENTS = 1 << 14


class OperandError(TypeError, ValueError):
    """Raised for an operand that is neither a scalar, an array nor a Variable.

    Chainer 4 raised ValueError, later releases TypeError; programs that catch either work.
    """


def check_operand(value: Any) -> None:
    """Raises :class:`OperandError` unless a value can be the other operand of an operator."""
    # The usual cases first, without a call.
    if value.__class__ is numpy.ndarray or isinstance(value, _SCALARS):
        return
    if find_backend(type(value)) is not None:
        return
    raise OperandError(
        "Value must be a scalar, `numpy.ndarray`, `cupy.ndarray` or a `Variable`.\n"
        f"Actual: {type(value)}"
    )


def is_scalar(value: Any) -> bool:
    """Tells whether a constant operand is a scalar, not an array."""
    return isinstance(value, _SCALARS)


def constant_label(value: Any) -> str:
    """Returns the text that represents a constant operand in labels."""
    # An array: it must be where x is, and is cast like a number.
    if not isinstance(value, _SCALARS):
        return "constant array"
    negative = not isinstance(value, (complex, numpy.complexfloating)) and value < 0  # type: ignore[operator]
    return f"({value})" if negative else str(value)


def as_operand(value: Any, x: Array, xp: ArrayModule) -> Any:
    """Returns a constant such that the result of an operator has the dtype of ``x``.

    Args:
        value: Scalar or array.
        x: The other operand, an array.
        xp: Its array namespace.

    Raises:
        TypeError: If ``value`` is an array of another kind than ``x``, or complex where ``x`` is
            not.
        InvalidValue: (a ValueError and an InvalidType) If the shapes cannot be broadcast together.
    """
    dtype = x.dtype
    # The usual cases first: to find the backends takes as long as small arithmetic.
    kind = type(value)
    if (kind is float or kind is int) and xp is numpy and dtype.kind == "f":
        return numpy.asarray(value, dtype)  # NumPy works fastest with an array of no dimensions
    if kind is numpy.ndarray and type(x) is numpy.ndarray and value.dtype == dtype:
        if value.shape == x.shape:
            return value
        _check_shapes(x.shape, value.shape)
        return _repeated(value, x)
    if not isinstance(value, _SCALARS):
        own, other = find_backend(type(x)), find_backend(type(value))
        if own is None or other is None:
            raise TypeError(not_an_array_message(x if own is None else value))
        if own.family != other.family:
            raise TypeError(
                "incompatible array types are mixed in the operands of an operator.\n"
                f"Actual: {type(x)}, {type(value)}\n{ONE_DEVICE}"
            )
        value = other.to_xp(other.wrap(value))
        if value.shape != x.shape:
            _check_shapes(x.shape, value.shape)
        if value.dtype.kind == "c" and dtype.kind != "c":
            raise _is_complex(f"array of dtype {value.dtype}", dtype)
        return value if value.dtype == dtype else value.astype(dtype)
    if isinstance(value, (complex, numpy.complexfloating)) and dtype.kind != "c":
        raise _is_complex("complex scalar", dtype)
    if dtype.kind in "fc":
        scalar = numpy.asarray(value, dtype)
    else:
        scalar = numpy.asarray(value).astype(dtype)  # truncates and wraps, as x.astype would
    if xp is numpy:
        return scalar
    # An extension dtype such as bfloat16 is promoted away when combined with a Python number.
    return scalar[()] if dtype.kind == "V" else scalar.item()


def _repeated(value: Array, x: Array) -> Array:
    """Returns a constant with one element for each short row of ``x`` in the shape of ``x``."""
    shape = x.shape
    if (
        len(shape) > 1
        and 1 < shape[-1] <= _LONGEST_ROW
        and _FEWEST_ELEMENTS <= x.size <= _MOST_ELEMENTS
        and value.shape == (*shape[:-1], 1)
    ):
        return value.repeat(shape[-1], -1)
    return value


def _check_shapes(shape: Shape, constant: Shape) -> None:
    # As numpy.broadcast_shapes(), which takes longer because it makes arrays.
    for n, m in zip(reversed(shape), reversed(constant)):
        if n != m and n != 1 and m != 1:
            # Release 4 raises what NumPy raises, release 7 InvalidType.
            raise InvalidValue(
                "operands that can be broadcast together", f"shapes {shape} and {constant}"
            )


def _is_complex(what: str, dtype: DType) -> TypeError:
    return TypeError(
        f"the {what} cannot be an operand of a Variable of dtype {dtype}: its imaginary part would "
        "be lost. Cast the Variable by chainer.functions.cast to a complex dtype."
    )


def check_broadcastable(in_types: type_check.TypeInfoTuple) -> None:
    """Checks that all inputs have one dtype and shapes that can be broadcast together."""
    for info in in_types[1:]:
        type_check.expect(in_types[0].dtype == info.dtype)
    type_check.expect_broadcast_shapes(*[info.shape for info in in_types])


def check_floating(in_types: type_check.TypeInfoTuple) -> None:
    """Checks that the first input is of floating point numbers."""
    type_check.expect(in_types[0].dtype.kind == "f")
