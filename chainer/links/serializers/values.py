"""Conversion of single values to host arrays for a file, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.arrays import backend
from chainer.core.typing import DType, HostArray
from chainer.links.serializer import EntryValue
from chainer.links.serializers.npz_archive import is_none


def to_host_array(key: str, value: EntryValue) -> HostArray:
    """Returns a value as an array in host memory.

    Args:
        key: Name of the entry, for messages.
        value: Array of any backend, scalar, string, or None.

    Returns:
        The value itself if it is a NumPy array, else a new array; None becomes an object array of
        shape ``()``.

    Raises:
        TypeError: If the value is none of these.
    """
    if isinstance(value, numpy.ndarray) or value is None:
        array = numpy.asarray(value)
    else:
        owner = backend.find_backend(type(value))
        array = numpy.asarray(value if owner is None else owner.to_host(value))
    if array.dtype.hasobject and not is_none(array):
        raise TypeError(
            f"value of {key!r} must be an array, a scalar, a string or None to be serialized, "
            f"got {type(value).__name__}"
        )
    return array


def check_declared(
    key: str, shape: tuple[int, ...], dtype: DType, value: EntryValue, source: str
) -> None:
    """Compares what an entry declares with what an object has, before the entry is read.

    Args:
        key: Name of the entry, for messages.
        shape: Shape that the file declares.
        dtype: Dtype that the file declares.
        value: Value in the object.
        source: Name of the file, for messages.

    Raises:
        ValueError: If the shapes differ.
        TypeError: If the dtype cannot be converted without changing its kind.
    """
    if value is None or isinstance(value, (list, tuple)) or dtype.hasobject:
        return
    if isinstance(value, numpy.ndarray) or backend.is_array(value):
        _check_shape(key, shape, value, source)
        _check_kind(key, dtype, value.dtype, source)
    else:
        _check_single(key, shape, value, source)


def restore(key: str, stored: HostArray, value: EntryValue, source: str) -> Any:
    """Returns a stored value in the form of the value that an object has.

    Args:
        key: Name of the entry, for messages.
        stored: Value in the file, in host memory.
        value: Value in the object: an array to be overwritten, a scalar or string that tells the
            type, or None.
        source: Name of the file, for messages.

    Returns:
        ``value`` with the elements overwritten, or the converted scalar (a float if a float was
        stored where a Python int is), or what was stored if ``value`` is None; None if None was
        stored.

    Raises:
        ValueError: If the shapes differ.
        TypeError: If the stored dtype cannot be converted without changing its kind.
    """
    if is_none(stored):
        return None
    if value is None:
        return stored
    if isinstance(value, numpy.ndarray) or backend.is_array(value):
        _check_shape(key, stored.shape, value, source)
        _check_kind(key, stored.dtype, value.dtype, source)
        backend.copyto(value, stored)
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(stored.tolist())
    return _restore_scalar(key, stored, value, source)


def _restore_scalar(key: str, stored: HostArray, value: EntryValue, source: str) -> Any:
    _check_single(key, stored.shape, value, source)
    item = stored.reshape(-1)[0]
    if isinstance(value, (str, bytes)) or stored.dtype.kind in "US":
        return type(value)(item)
    if type(value) is int and stored.dtype.kind == "f":
        # Programs often initialize what will be a float by an int: self._last_value = 0.
        return item.item()
    _check_kind(key, stored.dtype, numpy.dtype(type(value)), source)
    # NumPy wraps integers that are too large.
    if isinstance(value, numpy.integer):
        limits = numpy.iinfo(value.dtype)
        if not limits.min <= item <= limits.max:
            raise TypeError(f"{key!r} must be of dtype {value.dtype}, {source} holds {item}")
    return type(value)(item)


def _check_single(key: str, shape: tuple[int, ...], value: EntryValue, source: str) -> None:
    if math.prod(shape) != 1:
        raise ValueError(
            f"{key!r} must be a single {type(value).__name__}, {source} holds an array of shape "
            f"{shape}"
        )


def _check_shape(key: str, shape: tuple[int, ...], value: EntryValue, source: str) -> None:
    if shape != tuple(value.shape):
        raise ValueError(f"shape of {key!r} must be {tuple(value.shape)}, {source} holds {shape}")


def _check_kind(key: str, stored: DType, dtype: DType, source: str) -> None:
    if not numpy.can_cast(stored, dtype, "same_kind"):
        raise TypeError(
            f"dtype of {key!r} must be {dtype}, {source} holds {stored}, which cannot be "
            "converted without losing its kind"
        )
