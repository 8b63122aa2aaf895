"""Communicator ``naive``: MPI, for arrays of any device; the one for CPUs."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer.backend import backend_of
from chainermn.communicators import wire
from chainermn.communicators.array_messages import to_host
from chainermn.communicators.communicator_base import CompletedRequest, Request
from chainermn.communicators.gradients import check_float_dtype, pack, unpack
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

if TYPE_CHECKING:
    from chainer.typing import Array, ArrayLike

_ndarray = numpy.ndarray

#: Gradients below this size share one message: a copy takes less time than a message.
SMALL_BYTES = 64 * 1024


class NaiveCommunicator(MpiCommunicatorBase):
    """Communicator that needs nothing but MPI.

    Gradients on the host are added by MPI where they are. They travel in their own dtype; float16
    and bfloat16 are added in float32 and rounded once.

    Args:
        mpi_comm: Communicator of mpi4py.

    Attributes:
        allreduce_grad_dtype (str): Configuration: ``float16`` or ``bfloat16`` let float32 gradients
            travel with 16 bits; sums are made in float32. None: they travel as they are.
    """

    def __init__(self, mpi_comm: Any) -> None:
        super().__init__(mpi_comm)
        with self.config_scope():
            self.allreduce_grad_dtype: str | None = None

    def set_config(self, name: str, value: ArrayLike = True) -> None:
        if name == "allreduce_grad_dtype":
            with self.config_scope():
                self.allreduce_grad_dtype = check_float_dtype(value)
            return
        super().set_config(name, value)

    def _mean_gradients(self, params: list[chainer.Parameter]) -> None:
        small: dict[Any, list[chainer.Parameter]] = {}
        for param in params:
            if param.array.nbytes < SMALL_BYTES:
                small.setdefault((param.dtype, param.device), []).append(param)
            else:
                self.mean_array(param.grad)
        # In the order of the first parameter, which is the same in all processes.
        for group in small.values():
            if len(group) == 1:
                self.mean_array(group[0].grad)
                continue
            with group[0].device:
                buffer = pack(group, group[0].dtype)
                self.mean_array(buffer)
                unpack(group, buffer)

    def mean_array(self, array: Array) -> None:
        if type(array) is _ndarray and array.dtype in self._types and array.flags.c_contiguous:
            self._mean_in_place(array)
            return
        host = to_host(array)
        wide = host.astype(numpy.float32) if host.dtype.itemsize == 2 else host.copy()
        self._mean_in_place(wide)
        backend = backend_of(array)
        array[...] = backend.device_of(array).send(wide.astype(host.dtype, copy=False))

    def _mean_in_place(self, array: numpy.ndarray[Any, Any]) -> None:
        dtype = self.allreduce_grad_dtype
        if dtype in ("float16", "bfloat16") and array.dtype == numpy.float32:
            wire.mean(self._mpi, self.mpi_comm, array.reshape(-1), dtype)
            return
        self.mpi_comm.Allreduce(self._mpi.IN_PLACE, (array, self._types[array.dtype]))
        array *= array.dtype.type(1 / self._size)

    def start_mean(self, array: Array) -> Request:
        compressed = self.allreduce_grad_dtype in ("float16", "bfloat16")
        if type(array) is not _ndarray or array.dtype not in self._types or compressed:
            self.mean_array(array)
            return CompletedRequest()
        message = (array, self._types[array.dtype])
        return _MeanRequest(self.mpi_comm.Iallreduce(self._mpi.IN_PLACE, message), array, self.size)

    def start_bcast(self, array: Array, root: int) -> Request:
        if type(array) is not _ndarray or not array.flags.c_contiguous:
            return super().start_bcast(array, root)
        self._check_call("start_bcast", (root, array.shape))
        message = [array.reshape(-1).view(numpy.uint8), self._mpi.BYTE]
        return _Request(self.mpi_comm.Ibcast(message, root=root), array)

    def start_mean_at(self, array: Array, root: int) -> Request:
        if type(array) is not _ndarray or array.dtype not in self._types:
            return super().start_mean_at(array, root)
        self._check_call("start_mean_at", (root, array.shape))
        is_root = self.rank == root
        message = (array, self._types[array.dtype])
        sent, received = (self._mpi.IN_PLACE, message) if is_root else (message, None)
        request = self.mpi_comm.Ireduce(sent, received, root=root)
        return _MeanRequest(request, array, self.size) if is_root else _Request(request, array)

    def reduce_scatter_mean(self, array: Array, counts: Sequence[int]) -> None:
        compressed = self.allreduce_grad_dtype in ("float16", "bfloat16")
        if type(array) is not _ndarray or array.dtype not in self._types or compressed:
            self.mean_array(array)
            return
        start = sum(counts[: self.rank])
        part = numpy.empty(counts[self.rank], array.dtype)
        mpi_type = self._types[array.dtype]
        self.mpi_comm.Reduce_scatter((array, mpi_type), (part, mpi_type), list(counts))
        array[start : start + part.size] = part * array.dtype.type(1 / self.size)

    def allgather_parts(self, array: Array, counts: Sequence[int]) -> None:
        if type(array) is not _ndarray or not array.flags.c_contiguous:
            super().allgather_parts(array, counts)
            return
        data = array.view(numpy.uint8)
        lengths = [count * array.dtype.itemsize for count in counts]
        self.mpi_comm.Allgatherv(self._mpi.IN_PLACE, [data, lengths, self._mpi.BYTE])


#: Requests that are not complete. MPI writes into their arrays, which therefore must not be freed
#: when a program drops them, as at the end of a training with double buffering.
_pending: set[_Request] = set()


class _Request:
    """A communication that MPI makes in the background.

    Args:
        request: Request of mpi4py.
        array: The array that MPI reads or writes.
    """

    def __init__(self, request: Any, array: numpy.ndarray[Any, Any]) -> None:
        self._request = request
        self._array = array
        self._done = False
        _pending.add(self)

    def test(self) -> bool:
        if not self._done and self._request.Test():
            self._finish()
        return self._done

    def wait(self) -> None:
        if not self._done:
            self._request.Wait()
            self._finish()

    def _finish(self) -> None:
        self._done = True
        _pending.discard(self)


class _MeanRequest(_Request):
    """A mean that MPI computes in the background.

    Args:
        request: Request of mpi4py.
        array: The array, which has the sum when the request is complete.
        size: Number of processes.
    """

    def __init__(self, request: Any, array: numpy.ndarray[Any, Any], size: int) -> None:
        super().__init__(request, array)
        self._size = size

    def _finish(self) -> None:
        self._array *= self._array.dtype.type(1 / self._size)
        super()._finish()


@atexit.register
def _complete_pending() -> None:
    from chainermn.mpi import load_mpi

    if _pending and not load_mpi().Is_finalized():
        for request in list(_pending):
            request.wait()
