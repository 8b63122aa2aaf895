"""Helpers of the functions: arguments into arrays, results into ``out``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy
from chainer.backend import find_backend
from chainer.backends.recorder import VaryingNumber

from chainer_array_api import dtypes
from chainer_array_api.array import Array, mixed

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike

#: The backend that functions pass to each other.
Backend = Any

_NUMBERS = (int, float, complex)


def array(b: Backend, value: ArrayLike) -> Array:
    """Returns an argument as an array of the backend.

    Args:
        b: The backend.
        value: Array of the backend or of its library, number, or nested lists of such.

    Raises:
        TypeError: If it is an array of another kind.
    """
    if value.__class__ is b.array_class:
        return value
    if isinstance(value, (*_NUMBERS, numpy.generic, list, tuple)):
        return convert(b, value)
    if find_backend(value.__class__) is b:
        return b.wrap(value)
    raise mixed(b.xp.zeros(0), value)


def convert(b: Backend, value: ArrayLike, dtype: DTypeLike = None) -> Array:
    """Returns a new array of a host value on the current device.

    Args:
        b: The backend.
        value: Number, NumPy array, or nested lists of numbers and arrays of the backend.
        dtype: Dtype; that NumPy finds by default.
    """
    if isinstance(value, (list, tuple)) and _has_arrays(b, value):
        parts = [value_ if isinstance(value_, Array) else convert(b, value_) for value_ in value]
        result = b.xp.stack(parts)
        return result if dtype is None else result.astype(dtype, copy=False)
    host = numpy.array(value, dtype, order="C")
    return b.make(host, b.current_native_device)


def _has_arrays(b: Backend, value: ArrayLike) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_arrays(b, item) for item in value)
    return isinstance(value, b.array_class)


def astype(
    b: Backend, x: Array, dtype: DTypeLike, casting: str = "unsafe", copy: bool = True
) -> Array:
    """Returns an array converted to another dtype.

    Args:
        b: The backend.
        x: The array.
        dtype: The dtype.
        casting: Allowed conversions, as in NumPy.
        copy: Whether to copy where nothing is to be converted.
    """
    source, target = x.dtype, numpy.dtype(dtype)
    if source == target:
        return x.copy() if copy else x
    if casting != "unsafe" and not numpy.can_cast(source, target, casting):  # type: ignore[arg-type]
        raise TypeError(f"cannot cast from {source} to {target} with rule {casting!r}")
    nx, native = b.nx, x.native
    if source.kind == "c" and target.kind == "b":
        return b.array_class(native != 0)  # a number without a real part is true, too
    if source.kind == "c" and target.kind != "c":
        native = nx.real(native)
    return b.array_class(nx.astype(native, b.native_dtype(target)))


def cast(b: Backend, x: Array, dtype: DTypeLike) -> Any:
    """Returns the native array of an array, converted if need be.

    Args:
        b: The backend.
        x: The array.
        dtype: The dtype.
    """
    return x.native if x.dtype == dtype else astype(b, x, dtype).native


def number(b: Backend, value: ArrayLike, dtype: numpy.dtype[Any], device: Any) -> Any:
    """Returns a native array without axes.

    Args:
        b: The backend.
        value: Number.
        dtype: Dtype of the array.
        device: Native device.
    """
    if isinstance(value, VaryingNumber):  # of a step that is being recorded
        return value.array(dtype).native
    return b.native_number(numpy.asarray(value).astype(dtype).item(), dtype, device)


def device_of(b: Backend, values: Iterable[Any]) -> Any:
    """Returns the native device of the first array among some values; the current one without.

    Args:
        b: The backend.
        values: Arrays and numbers.
    """
    for value in values:
        if value.__class__ is b.array_class:
            return b.native_device_of(value)
    return b.current_native_device


def together(b: Backend, values: Iterable[Any]) -> list[Any]:
    """Returns values as native arrays of their common dtype.

    Args:
        b: The backend.
        values: Arrays and numbers.
    """
    values = [v if isinstance(v, _NUMBERS) else array(b, v) for v in values]
    dtype = dtypes.common(*map(dtypes.kind_of, values))
    device = device_of(b, values)
    return [
        cast(b, v, dtype) if isinstance(v, Array) else number(b, v, dtype, device) for v in values
    ]


def deliver(b: Backend, native: Any, out: ArrayLike, what: str = "the function") -> Array:
    """Returns a native result as an array, or puts it into ``out``.

    Args:
        b: The backend.
        native: The result.
        out: Array to put it into, a tuple of one, or None.
        what: Name of the function, for the message if the dtype does not fit.

    Raises:
        TypeError: If the result cannot be converted to the dtype of ``out``.
        ValueError: If it has another shape.
    """
    if out is None:
        return b.array_class(native)
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, b.array_class):
        raise TypeError(f"out must be an array of {b.name!r}, got {type(out)}")
    result = b.array_class(native)
    if result.shape != out.shape:
        raise ValueError(f"out has shape {out.shape}, but the result has {result.shape}")
    if result.dtype != out.dtype:
        dtypes.check_castable(result.dtype, out.dtype, what)
        native = astype(b, result, out.dtype).native
    b.assign(out, native)
    return out


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Returns axes as numbers from 0 on.

    Args:
        axis: One axis, several, or None for all.
        ndim: Number of axes there are.

    Raises:
        numpy.exceptions.AxisError: If there is no such axis.
    """
    if axis is None:
        return tuple(range(ndim))
    several = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(axis_of(each, ndim) for each in several)


def axis_of(axis: Any, ndim: int) -> int:
    """Returns an axis as a number from 0 on.

    Args:
        axis: The axis.
        ndim: Number of axes there are.

    Raises:
        numpy.exceptions.AxisError: If there is no such axis.
    """
    if not -ndim <= axis < ndim:
        raise numpy.exceptions.AxisError(int(axis), ndim)
    return int(axis) % ndim


def shape_of(shape: Any) -> tuple[int, ...]:
    """Returns a shape as a tuple of numbers of Python.

    Args:
        shape: Length, or lengths.
    """
    return tuple(map(int, shape)) if isinstance(shape, (tuple, list)) else (int(shape),)
