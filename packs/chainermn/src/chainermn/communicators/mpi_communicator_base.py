"""Communicators whose messages travel over MPI."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy

import chainer
from chainermn.communicators.array_messages import (
    Description,
    Problem,
    check_array,
    check_arrays,
    check_same_dtype,
    describe,
    is_on_device,
    raise_first,
    to_host,
    to_receiver,
)
from chainermn.communicators.communicator_base import CommunicatorBase, Request
from chainermn.communicators.gradients import initialized_params, prepare_gradients

if TYPE_CHECKING:
    from chainer.typing import Array, ArrayLike

_ndarray = numpy.ndarray

#: Pieces in which objects are broadcast; larger ones would exceed what some MPIs take at once.
MAX_PIECE_BYTES = 256 * 1024 * 1024

_CHECK_CALLS = "CHAINERMN_CHECK_CALLS"


class MpiCommunicatorBase(CommunicatorBase):
    """Base class of communicators over MPI.

    Arrays travel as bytes, with a description ahead that tells shape and dtype. Arrays on a GPU go
    through the memory of the host, so that any MPI will do; gradients take faster ways in the
    subclasses.

    The environment variable ``CHAINERMN_CHECK_CALLS=1`` makes every collective method compare the
    calls of all processes first, and raise an error that names those that differ, where they would
    otherwise wait for each other forever. All processes need the same value.

    Args:
        mpi_comm: Communicator of mpi4py.

    Attributes:
        mpi_comm: The communicator of mpi4py.
        batched_copy (bool): Configuration: whether gradients on GPUs are packed by one kernel.
    """

    def __init__(self, mpi_comm: Any) -> None:
        super().__init__()
        self.mpi_comm = mpi_comm
        from chainermn.mpi import load_mpi

        self._mpi = load_mpi()
        self._rank = mpi_comm.Get_rank()
        self._size = mpi_comm.Get_size()
        names = mpi_comm.allgather(self._mpi.Get_processor_name())
        own = names[self._rank]
        hosts = list(dict.fromkeys(names))
        self._intra = names[: self._rank].count(own), names.count(own)
        self._inter = hosts.index(own), len(hosts)
        self._checks_calls = os.environ.get(_CHECK_CALLS, "") not in ("", "0")
        self._types = {
            numpy.dtype("int32"): self._mpi.INT32_T,
            numpy.dtype("int64"): self._mpi.INT64_T,
            numpy.dtype("float32"): self._mpi.FLOAT,
            numpy.dtype("float64"): self._mpi.DOUBLE,
        }
        with self.config_scope():
            self.batched_copy = False

    @property
    def rank(self) -> int:
        return self._rank

    @property
    def size(self) -> int:
        return self._size

    @property
    def intra_rank(self) -> int:
        return self._intra[0]

    @property
    def intra_size(self) -> int:
        return self._intra[1]

    @property
    def inter_rank(self) -> int:
        return self._inter[0]

    @property
    def inter_size(self) -> int:
        return self._inter[1]

    def set_config(self, name: str, value: ArrayLike = True) -> None:
        if name == "batched_copy":
            with self.config_scope():
                self.batched_copy = bool(value)
            return
        super().set_config(name, value)

    def split(self, color: int, key: int) -> Self:
        self._check_call("split")
        other = type(self)(self.mpi_comm.Split(color, key))
        # Not by set_config, which refuses the names that a program has added.
        with other.config_scope():
            for name, value in self._configs.items():
                setattr(other, name, value)
        return other

    def barrier(self) -> None:
        self._check_call("barrier")
        self.mpi_comm.Barrier()

    # -- checks -----------------------------------------------------------------------------------

    def _check_call(self, name: str, detail: Any = None) -> None:
        """Compares the calls of all processes, if the environment variable asks for it."""
        if not self._checks_calls:
            return
        calls = self.mpi_comm.allgather((name, detail))
        for rank, call in enumerate(calls):
            if call != calls[0]:
                raise RuntimeError(
                    f"processes make different calls: rank 0 calls {_call_text(calls[0])}, rank "
                    f"{rank} calls {_call_text(call)}"
                )

    def _attempt(self, check: Callable[[], Any]) -> Any:
        """Returns the result of a check, or the problem it has found."""
        try:
            return check()
        except (TypeError, ValueError) as error:
            return Problem(type(error), str(error), self._rank)

    def _check_peer(self, rank: int, name: str) -> None:
        if not 0 <= rank < self._size:
            raise ValueError(f"{name} must be a rank from 0 to {self._size - 1}, got {rank}")

    # -- arrays: one to one -----------------------------------------------------------------------

    def send(self, data: Array | Sequence[Array], dest: int, tag: int) -> None:
        self._check_peer(dest, "dest")
        is_tuple = _is_sequence(data, "send")
        arrays = check_arrays(data if is_tuple else (data,), "send")
        head = is_tuple, [describe(array) for array in arrays]
        self.mpi_comm.send(head, dest=dest, tag=tag)
        for array in arrays:
            self.mpi_comm.Send(_bytes(to_host(array)), dest=dest, tag=tag)

    def start_send(self, data: Array | Sequence[Array], dest: int, tag: int) -> Request:
        self._check_peer(dest, "dest")
        is_tuple = _is_sequence(data, "start_send")
        arrays = check_arrays(data if is_tuple else (data,), "start_send")
        head = is_tuple, [describe(array) for array in arrays]
        requests = [self.mpi_comm.isend(head, dest=dest, tag=tag)]
        buffers = [_bytes(to_host(array)) for array in arrays]
        requests += [self.mpi_comm.Isend(buffer, dest=dest, tag=tag) for buffer in buffers]
        return _SendRequest(requests, buffers)

    def recv(self, source: int, tag: int) -> Any:
        self._check_peer(source, "source")
        is_tuple, descriptions = self.mpi_comm.recv(source=source, tag=tag)
        received: list[Array] = []
        for description in descriptions:
            array = _empty(description)
            self.mpi_comm.Recv(_bytes(array), source=source, tag=tag)
            received.append(to_receiver(array, description.on_device))
        return tuple(received) if is_tuple else received[0]

    # -- arrays: collective -----------------------------------------------------------------------

    def bcast(self, data: Array | None, root: int = 0, *, max_buf_len: int | None = None) -> Array:
        self._check_peer(root, "root")
        self._check_call("bcast", root)
        head = None
        if self._rank == root:
            head = self._attempt(lambda: _described(data, "bcast"))
        head = self.mpi_comm.bcast(head, root=root)
        raise_first([head])
        array = to_host(data) if self._rank == root else _empty(head)
        self.mpi_comm.Bcast(_bytes(array), root=root)
        if self._rank == root:
            assert data is not None
            return data
        return to_receiver(array, head.on_device)

    def gather(self, data: Array, root: int = 0) -> tuple[Array, ...] | None:
        self._check_peer(root, "root")
        self._check_call("gather", root)
        heads = self._exchange_descriptions(data, "gather")
        own = to_host(data)
        if self._rank != root:
            self.mpi_comm.Gatherv(_bytes(own), None, root=root)
            return None
        buffer, counts = _joint_buffer(heads)
        self.mpi_comm.Gatherv(_bytes(own), [buffer, counts, self._mpi.BYTE], root=root)
        return _cut(buffer, heads)

    def allgather(self, x: Array) -> tuple[Array, ...]:
        self._check_call("allgather")
        heads = self._exchange_descriptions(x, "allgather")
        buffer, counts = _joint_buffer(heads)
        self.mpi_comm.Allgatherv(_bytes(to_host(x)), [buffer, counts, self._mpi.BYTE])
        return _cut(buffer, heads)

    def _exchange_descriptions(self, array: Array, caller: str) -> list[Description]:
        entry = self._attempt(lambda: _described(array, caller))
        entries = self.mpi_comm.allgather(entry)
        raise_first(entries)
        check_same_dtype([entry.dtype for entry in entries], caller)
        return entries

    def alltoall(self, xs: Sequence[Array]) -> tuple[Array, ...]:
        self._check_call("alltoall")

        arrays: list[Array] = []

        def check() -> list[Description]:
            arrays.extend(xs)
            for array in arrays:
                check_array(array, "alltoall")
            self._check_count(len(check_arrays(arrays, "alltoall")), "alltoall")
            return [describe(array) for array in arrays]

        entries = self.mpi_comm.allgather(self._attempt(check))
        raise_first(entries)
        check_same_dtype([head.dtype for heads in entries for head in heads], "alltoall")
        heads = [heads[self._rank] for heads in entries]
        own = [to_host(array) for array in arrays]
        sent = numpy.concatenate([_bytes(array) for array in own])
        buffer, counts = _joint_buffer(heads)
        byte = self._mpi.BYTE
        self.mpi_comm.Alltoallv(
            [sent, [array.nbytes for array in own], byte], [buffer, counts, byte]
        )
        return _cut(buffer, heads)

    def scatter(self, xs: Sequence[Array] | Array | None, root: int = 0) -> Array:
        self._check_peer(root, "root")
        self._check_call("scatter", root)

        def check() -> list[Description]:
            if hasattr(xs, "dtype"):
                check_array(xs, "scatter")
                if not getattr(xs, "ndim", 0):
                    raise ValueError("scatter takes an array with a first axis, got one without")
            self._check_count(0 if xs is None else len(xs), "scatter")
            return [describe(array) for array in check_arrays(xs, "scatter")]

        heads = self._attempt(check) if self._rank == root else None
        heads = self.mpi_comm.bcast(heads, root=root)
        raise_first([heads] if isinstance(heads, Problem) else heads)
        head = heads[self._rank]
        received = _empty(head)
        if self._rank == root:
            assert xs is not None
            own = [to_host(array) for array in xs]
            sent = numpy.concatenate([_bytes(array) for array in own])
            counts = [array.nbytes for array in own]
            self.mpi_comm.Scatterv([sent, counts, self._mpi.BYTE], _bytes(received), root=root)
        else:
            self.mpi_comm.Scatterv(None, _bytes(received), root=root)
        return to_receiver(received, head.on_device)

    def _check_count(self, count: int, caller: str) -> None:
        if count != self._size:
            raise ValueError(
                f"{caller} takes one array for each of {self._size} processes, got {count}"
            )

    def allreduce(self, data: Array) -> Array:
        # No shapes are exchanged: that would take as long as the sum of a small array.
        if type(data) is _ndarray and not self._checks_calls:
            mpi_type = self._types.get(data.dtype)
            if mpi_type is not None and data.flags.c_contiguous:
                result = numpy.empty_like(data)
                self.mpi_comm.Allreduce((data, mpi_type), (result, mpi_type))
                return result
        check_array(data, "allreduce")
        self._check_call("allreduce", (data.shape, data.dtype.name))
        host = to_host(data)
        # MPI has no float16.
        wide = host.astype(numpy.float32) if host.dtype == numpy.float16 else host.copy()
        self.mpi_comm.Allreduce(self._mpi.IN_PLACE, (wide, self._types[wide.dtype]))
        return to_receiver(wide.astype(data.dtype, copy=False), is_on_device(data))

    # -- objects ----------------------------------------------------------------------------------

    def send_obj(self, obj: Any, dest: int, tag: int = 0) -> None:
        self._check_peer(dest, "dest")
        self.mpi_comm.send(obj, dest=dest, tag=tag)

    # Documented with status before tag, where the base class has the tag alone.
    def recv_obj(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, source: int, status: Any = None, tag: int | None = None
    ) -> Any:
        self._check_peer(source, "source")
        # -1 is not MPI's ANY_TAG everywhere, so None is the default here.
        tag = self._mpi.ANY_TAG if tag is None else tag
        return self.mpi_comm.recv(source=source, status=status, tag=tag)

    def bcast_obj(self, obj: Any, max_buf_len: int | None = MAX_PIECE_BYTES, root: int = 0) -> Any:
        piece = MAX_PIECE_BYTES if max_buf_len is None else max_buf_len
        if not 0 < piece < 2**31 - 1:
            raise ValueError(f"max_buf_len must be from 1 to 2**31 - 2, got {max_buf_len}")
        self._check_peer(root, "root")
        self._check_call("bcast_obj", root)
        is_root = self._rank == root
        buffer = numpy.empty(0, numpy.uint8)
        problem = None
        if is_root:
            try:
                buffer = numpy.frombuffer(pickle.dumps(obj, protocol=-1), numpy.uint8)
            except Exception as error:
                # The others wait for the length; they get the reason instead.
                problem = f"rank {root} cannot pickle the object: {error!r}"
        head = self.mpi_comm.bcast((len(buffer), problem), root=root)
        length, problem = head
        if problem is not None:
            raise pickle.PicklingError(problem)
        if not is_root:
            buffer = numpy.empty(length, numpy.uint8)
        for start in range(0, length, piece):
            part = buffer[start : start + piece]
            self.mpi_comm.Bcast([part, self._mpi.BYTE], root=root)
        return obj if is_root else pickle.loads(buffer.data)

    def gather_obj(self, obj: Any, root: int = 0) -> list[Any] | None:
        self._check_peer(root, "root")
        self._check_call("gather_obj", root)
        return self.mpi_comm.gather(obj, root=root)

    def allgather_obj(self, obj: Any) -> list[Any]:
        self._check_call("allgather_obj")
        return self.mpi_comm.allgather(obj)

    def allreduce_obj(self, obj: Any) -> Any:
        self._check_call("allreduce_obj")
        # In order of the ranks, so that lists are joined in that order and all get the same sum.
        total, *others = self.mpi_comm.allgather(obj)
        for other in others:
            total = total + other
        return total

    # -- models -----------------------------------------------------------------------------------

    def bcast_data(self, model: chainer.Link) -> None:
        params = initialized_params(model)
        self._check_call("bcast_data", [(name, param.shape) for name, param in params])
        for _, param in params:
            array = to_host(param.array)
            self.mpi_comm.Bcast(_bytes(array), root=0)
            if self._rank != 0 and array is not param.array:
                param.array[...] = param.device.send(array)

    def multi_node_mean_grad(self, model: chainer.Link, zero_fill: bool = False) -> None:
        params = prepare_gradients(model, zero_fill)
        names = [(param.name, param.shape, str(param.dtype)) for param in params]
        self._check_call("multi_node_mean_grad", names)
        if chainer.is_debug():
            self._compare_gradients(names)
        if params:
            self._mean_gradients(params)
        if chainer.is_debug():
            for param in params:
                if not param.xp.isfinite(param.grad).all():
                    raise ValueError(
                        f"the mean gradient of {param.name} is not finite: parameters diverged"
                    )

    def _compare_gradients(self, names: list[Any]) -> None:
        for rank, others in enumerate(self.mpi_comm.allgather(names)):
            if others != names:
                raise ValueError(
                    f"gradients of rank {rank} differ from those of rank {self._rank} in name, "
                    f"shape or dtype: {others} and {names}"
                )

    def _mean_gradients(self, params: list[chainer.Parameter]) -> None:
        """Replaces the gradients of parameters, none of which is missing, by their means."""
        for param in params:
            self.mean_array(param.grad)

    def mean_array(self, array: Array) -> None:
        array[...] = self.allreduce(array) * (1.0 / self._size)


class _SendRequest:
    """Messages that are being sent.

    Args:
        requests: Requests of mpi4py.
        buffers: What MPI reads.
    """

    def __init__(self, requests: list[Any], buffers: list[Any]) -> None:
        self._requests = requests
        self._buffers = buffers

    def test(self) -> bool:
        self._requests = [request for request in self._requests if not request.Test()]
        return not self._requests

    def wait(self) -> None:
        for request in self._requests:
            request.Wait()
        self._requests = []


def _call_text(call: tuple[str, Any]) -> str:
    name, detail = call
    return f"{name}()" if detail is None else f"{name}() with {detail}"


def _is_sequence(data: Any, caller: str) -> bool:
    if isinstance(data, (tuple, list)):
        return True
    check_array(data, caller) if hasattr(data, "dtype") else check_arrays(data, caller)
    return not hasattr(data, "dtype")


def _described(data: Any, caller: str) -> Description:
    check_array(data, caller)
    return describe(data)


def _empty(description: Description) -> numpy.ndarray[Any, Any]:
    return numpy.empty(description.shape, description.dtype)


def _bytes(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """Returns a view of the bytes of a contiguous array."""
    return array.reshape(-1).view(numpy.uint8)


def _nbytes(description: Description) -> int:
    size = int(numpy.prod(description.shape, dtype=numpy.int64))
    return size * numpy.dtype(description.dtype).itemsize


def _joint_buffer(heads: Sequence[Description]) -> tuple[numpy.ndarray[Any, Any], list[int]]:
    """Returns a buffer of bytes for all arrays, and the length of each in it."""
    counts = [_nbytes(head) for head in heads]
    return numpy.empty(sum(counts), numpy.uint8), counts


def _cut(buffer: numpy.ndarray[Any, Any], heads: Sequence[Description]) -> tuple[Any, ...]:
    """Returns the arrays in a buffer, each in memory of its own."""
    arrays: list[Any] = []
    start = 0
    for head in heads:
        stop = start + _nbytes(head)
        # A copy: the user may keep one array of a large exchange, and it is aligned then.
        array = buffer[start:stop].copy().view(head.dtype).reshape(head.shape)
        arrays.append(to_receiver(array, head.on_device))
        start = stop
    return tuple(arrays)
