"""Checks and descriptions of the arrays that communicators send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer.backend import find_backend

if TYPE_CHECKING:
    from chainer.typing import Array

#: dtypes that communicators send.
DTYPES = frozenset(
    numpy.dtype(name) for name in ("int32", "int64", "float16", "float32", "float64")
)


class Description(NamedTuple):
    """Description of an array, sent before it, so that the receiver can allocate memory.

    Attributes:
        shape: Its shape.
        dtype: Name of its dtype.
        on_device: Whether the sender has it on an accelerator.
    """

    shape: tuple[int, ...]
    dtype: str
    on_device: bool


class Problem(NamedTuple):
    """An error of one process that all of them raise.

    Attributes:
        kind: Class of the exception.
        message: Its text.
        rank: Rank of the process that has found it.
    """

    kind: type[Exception]
    message: str
    rank: int


def check_array(array: Array, caller: str) -> None:
    """Raises unless communicators can send an object as an array.

    Args:
        array: The object.
        caller: Name of the method, for the message.

    Raises:
        TypeError: If it is not an array, or its dtype is not supported.
        ValueError: If it is a list, a string, or another iterable whose elements are not arrays.
    """
    if find_backend(type(array)) is None:
        if isinstance(array, (tuple, list, str)):
            check_arrays(array, caller)  # Raises for elements of a wrong kind, as release 7 does.
        raise TypeError(f"{caller} takes a NumPy or CuPy array, got {type(array).__name__}")
    if array.dtype not in DTYPES:
        names = ", ".join(sorted(dtype.name for dtype in DTYPES))
        raise TypeError(f"{caller} does not support dtype {array.dtype}; it takes {names}")


def check_arrays(arrays: Any, caller: str) -> tuple[Any, ...]:
    """Returns an iterable of arrays as a tuple.

    Args:
        arrays: Arrays of one dtype, all on the host or all on an accelerator.
        caller: Name of the method, for the messages.

    Raises:
        TypeError: If it cannot be iterated over, or dtypes differ or are not supported.
        ValueError: If its elements are not arrays of one kind.
    """
    try:
        items = tuple(arrays)
    except TypeError:
        raise TypeError(
            f"{caller} takes arrays, or tuples of arrays, got {type(arrays).__name__}"
        ) from None
    backends = [find_backend(type(item)) for item in items]
    if any(backend is None for backend in backends):
        kinds = ", ".join(sorted({type(item).__name__ for item in items}))
        raise ValueError(f"{caller} takes tuples of NumPy or CuPy arrays, got elements: {kinds}")
    if len({backend.family for backend in backends if backend is not None}) > 1:
        raise ValueError(f"{caller} takes arrays on the host or on GPUs, got both in one tuple")
    for item in items:
        check_array(item, caller)
    check_same_dtype([item.dtype.name for item in items], caller)
    return items


def check_same_dtype(names: Sequence[str], caller: str) -> None:
    """Raises unless all dtypes are equal.

    Args:
        names: Names of dtypes.
        caller: Name of the method, for the message.

    Raises:
        TypeError: If they differ.
    """
    if len(set(names)) > 1:
        raise TypeError(f"{caller} takes arrays of one dtype, got {', '.join(sorted(set(names)))}")


def describe(array: Array) -> Description:
    """Returns the description of an array."""
    return Description(array.shape, array.dtype.name, is_on_device(array))


def is_on_device(array: Array) -> bool:
    """Returns whether an array is on an accelerator."""
    if type(array) is numpy.ndarray:
        return False
    backend = find_backend(type(array))
    return backend is not None and backend.is_accelerator


def to_host(array: Array) -> numpy.ndarray[Any, Any]:
    """Returns a contiguous array on the host; the array itself if it is one."""
    if type(array) is not numpy.ndarray:
        backend = find_backend(type(array))
        if backend is not None:
            array = backend.to_host(array)
    return numpy.ascontiguousarray(array).reshape(array.shape)


def to_receiver(array: numpy.ndarray[Any, Any], on_device: bool) -> Array:
    """Returns a received array where it belongs.

    Args:
        array: The array on the host.
        on_device: Whether the sender had it on a GPU. Then it goes to the current one here.
    """
    if not on_device:
        return array
    from chainer.backends import cuda

    return cuda.to_gpu(array)


def raise_first(entries: Sequence[Any]) -> None:
    """Raises the first problem among entries of all processes.

    Args:
        entries: Descriptions or problems, of each rank.
    """
    for entry in entries:
        if isinstance(entry, Problem):
            raise entry.kind(f"{entry.message} (rank {entry.rank})")
