"""Functions that make arrays, on the current device of the backend or on one that is given."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy
from chainer.backend import find_backend

from chainer_array_api.array import Array
from chainer_array_api.functions import operands
from chainer_array_api.functions.operands import Backend, shape_of

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike


def placed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a function the argument ``device`` of the standard, a device of the library.

    Args:
        function: Function that makes an array on the current device.
    """

    @functools.wraps(function)
    def on_device(b: Backend, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None:
            return function(b, *args, **kwargs)
        devices = list(b.native_devices)
        if device not in devices:
            raise ValueError(f"device must be one of {devices}, got {device!r}")
        with b.use(b.device(devices.index(device))):
            # It is on another device if an array was given, as to zeros_like().
            return function(b, *args, **kwargs).to_device(device)

    signature = inspect.signature(function)
    device = inspect.Parameter("device", inspect.Parameter.KEYWORD_ONLY, default=None)
    given = list(signature.parameters.values())
    if given[-1].kind is not inspect.Parameter.VAR_KEYWORD:
        given.append(device)
    else:
        given.insert(-1, device)
    on_device.__signature__ = signature.replace(parameters=given)  # type: ignore[attr-defined]
    return on_device


@placed
def asarray(
    b: Backend, a: ArrayLike, dtype: DTypeLike = None, order: Any = None, copy: Any = None
) -> Array:
    """As :func:`numpy.asarray`. NumPy arrays are copied to the current device."""
    if find_backend(a.__class__) is b:
        x = b.wrap(a)
        dtype = x.dtype if dtype is None else dtype
        return operands.astype(b, x, dtype, copy=bool(copy))
    return operands.convert(b, a, dtype)


def array(
    b: Backend, object: ArrayLike, dtype: DTypeLike = None, *, copy: Any = True, ndmin: int = 0
) -> Array:
    """As :func:`numpy.array`. NumPy arrays are copied to the current device."""
    x = asarray(b, object, dtype, copy=copy)
    return x.reshape((1,) * (ndmin - x.ndim) + x.shape) if x.ndim < ndmin else x


asanyarray = asarray


def ascontiguousarray(b: Backend, a: ArrayLike, dtype: DTypeLike = None) -> Array:
    """As :func:`numpy.ascontiguousarray`."""
    x = asarray(b, a, dtype)
    # NumPy's function returns at least one axis.
    x = x.reshape(1) if x.ndim == 0 else x
    return x if b.is_contiguous(x.native) else contiguous(b, x)


def contiguous(b: Backend, x: Array) -> Array:
    """Returns a contiguous copy.

    Args:
        b: The backend.
        x: The array.
    """
    result = empty_like(b, x)
    b.assign(result, x.native)
    return result


def copy(b: Backend, a: ArrayLike, order: str = "K") -> Array:
    """As :func:`numpy.copy`."""
    return operands.array(b, a).copy()


def _new(b: Backend, kind: str, shape: Any, dtype: DTypeLike, device: Any = None) -> Array:
    device = b.current_native_device if device is None else device
    return b.array_class(b.create(kind, shape_of(shape), b.native_dtype(dtype), device))


@placed
def empty(b: Backend, shape: Any, dtype: DTypeLike = float, order: str = "C") -> Array:
    """As :func:`numpy.empty`."""
    return _new(b, "empty", shape, dtype)


@placed
def zeros(b: Backend, shape: Any, dtype: DTypeLike = float, order: str = "C") -> Array:
    """As :func:`numpy.zeros`."""
    return _new(b, "zeros", shape, float if dtype is None else dtype)


@placed
def ones(b: Backend, shape: Any, dtype: DTypeLike = None, order: str = "C") -> Array:
    """As :func:`numpy.ones`."""
    return _new(b, "ones", shape, float if dtype is None else dtype)


@placed
def full(
    b: Backend, shape: Any, fill_value: ArrayLike, dtype: DTypeLike = None, order: str = "C"
) -> Array:
    """As :func:`numpy.full`."""
    if dtype is None:
        dtype = (
            fill_value.dtype if hasattr(fill_value, "dtype") else numpy.asarray(fill_value).dtype
        )
    # The standard fills with a number only; NumPy also takes an array that broadcasts.
    result = _new(b, "empty", shape, dtype)
    result[...] = fill_value
    return result


def _like(b: Backend, kind: str, a: ArrayLike, dtype: DTypeLike, shape: Any) -> Array:
    x = operands.array(b, a)
    shape = x.shape if shape is None else shape
    return _new(b, kind, shape, x.dtype if dtype is None else dtype, b.native_device_of(x))


@placed
def empty_like(
    b: Backend,
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Array:
    """As :func:`numpy.empty_like`."""
    return _like(b, "empty", a, dtype, shape)


@placed
def zeros_like(
    b: Backend,
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Array:
    """As :func:`numpy.zeros_like`."""
    return _like(b, "zeros", a, dtype, shape)


@placed
def ones_like(
    b: Backend,
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Array:
    """As :func:`numpy.ones_like`."""
    return _like(b, "ones", a, dtype, shape)


@placed
def full_like(
    b: Backend,
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Array:
    """As :func:`numpy.full_like`."""
    result = _like(b, "empty", a, dtype, shape)
    result[...] = fill_value
    return result


@placed
def arange(
    b: Backend,
    start: ArrayLike,
    stop: ArrayLike = None,
    step: ArrayLike = None,
    dtype: DTypeLike = None,
) -> Array:
    """As :func:`numpy.arange`, whose keywords may be given without the other arguments."""
    if stop is None and step is not None:
        start, stop = 0, start  # not (start, step): a step is not an end
    args = [
        operand.item() if hasattr(operand, "item") else operand
        for operand in (start, stop, step)
        if operand is not None
    ]
    if dtype is None:
        dtype = numpy.result_type(*map(type, args))
    # Lengths and rounding as NumPy has them.
    return b.make(numpy.arange(*args, dtype=dtype), b.current_native_device)


@placed
def from_dlpack(b: Backend, x: Any, /, *, copy: bool | None = None) -> Array:
    """As :func:`numpy.from_dlpack`: an array of the library that shares the memory of ``x``."""
    made = b.wrap_native(b.nx.from_dlpack(x))
    return made.copy() if copy else made


@placed
def linspace(b: Backend, start: ArrayLike, stop: ArrayLike, num: int = 50, **kwargs: Any) -> Any:
    """As :func:`numpy.linspace`, of numbers."""
    return b.make(numpy.linspace(start, stop, num, **kwargs), b.current_native_device)


@placed
def eye(
    b: Backend, N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float, order: str = "C"
) -> Array:
    """As :func:`numpy.eye`."""
    dtype = b.native_dtype(dtype)
    return b.array_class(b.nx.eye(N, M, k=k, dtype=dtype, device=b.current_native_device))


def identity(b: Backend, n: int, dtype: DTypeLike = None) -> Array:
    """As :func:`numpy.identity`."""
    return eye(b, n, dtype=float if dtype is None else dtype)


def tri(b: Backend, N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float) -> Array:
    """As :func:`numpy.tri`."""
    return b.make(numpy.tri(N, M, k, dtype=dtype), b.current_native_device)


def tril(b: Backend, m: ArrayLike, k: int = 0) -> Array:
    """As :func:`numpy.tril`."""
    return b.array_class(b.nx.tril(operands.array(b, m).native, k=k))


def triu(b: Backend, m: ArrayLike, k: int = 0) -> Array:
    """As :func:`numpy.triu`."""
    return b.array_class(b.nx.triu(operands.array(b, m).native, k=k))


def indices(b: Backend, dimensions: Any, dtype: DTypeLike = int, sparse: bool = False) -> Any:
    """As :func:`numpy.indices`."""
    made = numpy.indices(dimensions, dtype, sparse)
    if sparse:
        return tuple(b.make(part.copy(), b.current_native_device) for part in made)
    return b.make(made, b.current_native_device)


def meshgrid(
    b: Backend, *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> Any:
    """As :func:`numpy.meshgrid`."""
    arrays = [operands.array(b, x).reshape(-1) for x in xi]
    parts = [
        x.reshape((1,) * i + (-1,) + (1,) * (len(arrays) - i - 1)) for i, x in enumerate(arrays)
    ]
    if not sparse:
        parts = b.xp.broadcast_arrays(*parts)
    # NumPy's default has the order of a picture: x changes along the second axis.
    if indexing == "xy" and len(parts) > 1:
        parts = [part.swapaxes(0, 1) for part in parts]
    return [part.copy() for part in parts] if copy else list(parts)


def copyto(
    b: Backend, dst: ArrayLike, src: ArrayLike, casting: str = "same_kind", where: ArrayLike = True
) -> None:
    """As :func:`numpy.copyto`."""
    dst = operands.array(b, dst)
    if not isinstance(src, (int, float, complex)):
        src = operands.array(b, src)
        if not numpy.can_cast(src.dtype, dst.dtype, casting):  # type: ignore[arg-type]
            raise TypeError(f"cannot cast from {src.dtype} to {dst.dtype} with rule {casting!r}")
    dst[...] = src if where is True else b.xp.where(where, src, dst)
