"""Sums and broadcasts between processes with one CUDA device each, by NCCL through CuPy."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy

from chainer.backends.cupy import library
from chainer.backends.cupy.kernels._multi_tensor import CopyKernel
from chainer.core.installation import install_command
from chainer.core.typing import DTypeLike

#: Arrays in a buffer start at multiples of this number of elements, for aligned accesses.
_ALIGNMENT = 64
_TYPES = {
    "float16": "NCCL_FLOAT16",
    "bfloat16": "NCCL_BFLOAT16",
    "float32": "NCCL_FLOAT32",
    "float64": "NCCL_FLOAT64",
}


def data_type(dtype: DTypeLike) -> int:
    """Returns the number of a dtype in NCCL.

    Args:
        dtype: Dtype of an array.

    Raises:
        RuntimeError: If NCCL does not have it, or cannot be used.
    """
    name = numpy.dtype(dtype).name
    if name not in _TYPES:
        raise RuntimeError(f"Unexpected data type:{name}")
    return getattr(require(), _TYPES[name])


def missing() -> str | None:
    """Returns None where NCCL can be used, else what is missing."""
    cupy, reason = library.find()
    if cupy is None:
        return reason
    if _module().available:
        return None
    return (
        f"CuPy finds no NCCL; install it with {install_command('nvidia-nccl-cu13')} (or "
        "nvidia-nccl-cu12 for CUDA 12)"
    )


def require() -> Any:
    """Returns the module ``cupy.cuda.nccl``.

    Raises:
        RuntimeError: If it cannot be used; the message says what is missing.
    """
    reason = missing()
    if reason is not None:
        raise RuntimeError(f"NCCL is not available: {reason}")
    return _module()


def _module() -> Any:
    """Returns CuPy's module, which CuPy does not import itself; it exists without NCCL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # CuPy warns if the library is missing
        return importlib.import_module("cupy.cuda.nccl")


def unique_id() -> Any:
    """Returns the identity that the processes of one communicator share; it can be pickled."""
    return require().get_unique_id()


class Communicator:
    """Connection to the other processes, which all make the same calls in the same order.

    The device of the process must be the current one during calls. Only the constructor waits: for
    the other processes.

    Args:
        identity: Result of one call of :func:`unique_id`, the same for all processes.
        size: Number of processes.
        rank: Number of this process; 0 is the main process.
        arrays: The arrays of this process whose values are exchanged. The arrays of all processes
            have the same shapes and dtypes, in the same order.
    """

    def __init__(self, identity: Any, size: int, rank: int, arrays: Sequence[Any]) -> None:
        cupy = library.require()
        self._cupy = cupy
        self._nccl = require()
        self._rank = rank
        # Arrays of one dtype are exchanged in one buffer, because each call has a fixed cost:
        # dtype -> indices of the arrays, start of each in the buffer, and size of the buffer.
        self._groups: dict[Any, tuple[list[int], list[int], int]] = {}
        for dtype in dict.fromkeys(array.dtype for array in arrays):
            if numpy.dtype(dtype).name not in _TYPES:
                raise TypeError(f"parameters of dtype {dtype} cannot be exchanged by NCCL")
            indexes = [i for i, array in enumerate(arrays) if array.dtype == dtype]
            starts, total = [], 0
            for i in indexes:
                starts.append(total)
                total += -(-arrays[i].size // _ALIGNMENT) * _ALIGNMENT
            self._groups[dtype] = (indexes, starts, total)
        self._shapes = [array.shape for array in arrays]
        self._kernel = CopyKernel(_backend())
        self._native = self._nccl.NcclCommunicator(size, identity, rank)

    def broadcast(self, arrays: Sequence[Any]) -> None:
        """Copies the values of the arrays of the main process to the arrays of all processes."""
        for dtype, (indexes, starts, total) in self._groups.items():
            own = [arrays[i] for i in indexes]
            buffer, views = self._buffer(dtype, indexes, starts, total)
            if self._rank == 0:
                self._kernel.copy(views, own)
            self._native.bcast(buffer.data.ptr, total, data_type(dtype), 0, self._stream())
            if self._rank:
                self._kernel.copy(own, views)

    def sum(self, arrays: Sequence[Any]) -> list[Any]:
        """Sums arrays; None counts as zeros.

        Returns:
            list: In the main process the sums, as parts of new arrays; elsewhere undefined values.
        """
        sums: list[Any] = [None] * len(arrays)
        for dtype, (indexes, starts, total) in self._groups.items():
            buffer, views = self._buffer(dtype, indexes, starts, total)
            self._kernel.copy(views, [arrays[i] for i in indexes])
            pointer = buffer.data.ptr
            self._native.reduce(
                pointer, pointer, total, data_type(dtype), self._nccl.NCCL_SUM, 0, self._stream()
            )
            for i, view in zip(indexes, views, strict=True):
                sums[i] = view
        return sums

    def close(self, abort: bool = False) -> None:
        """Closes the connection. NCCL may wait until all processes do so.

        Args:
            abort: Whether not to wait for other processes and pending work, since a process died.
        """
        if abort:
            self._native.abort()
        else:
            self._native.destroy()

    def _buffer(
        self, dtype: Any, indexes: list[int], starts: list[int], total: int
    ) -> tuple[Any, list[Any]]:
        buffer = self._cupy.empty(total, dtype)
        views = []
        for i, start in zip(indexes, starts, strict=True):
            shape = self._shapes[i]
            size = int(numpy.prod(shape, dtype=numpy.int64))
            views.append(buffer[start : start + size].reshape(shape))
        return buffer, views

    def _stream(self) -> int:
        return self._cupy.cuda.get_current_stream().ptr


def _backend() -> Any:
    """Returns the backend of CuPy."""
    from chainer.backends.cupy.backend import backend

    return backend
