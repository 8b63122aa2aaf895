"""A stand-in for ``cupy.cuda.nccl``, and for processes: the ranks are threads of one process."""

from __future__ import annotations

import copy
import ctypes
import multiprocessing
import os
import pickle
import threading
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import numpy

from chainer.training.updaters import parallel_workers
from chainer.training.updaters.gradient_exchange import NcclExchangeOfWorker

_DTYPES = {"NCCL_FLOAT16": "e", "NCCL_FLOAT32": "f", "NCCL_FLOAT64": "d"}


class Nccl(SimpleNamespace):
    """The module.

    Attributes:
        calls: What was called: name, rank, number of elements and type.
    """

    available = True
    NCCL_SUM = "sum"

    def __init__(self, size: int) -> None:
        super().__init__(**{name: name for name in _DTYPES})
        self.calls: list[tuple[Any, ...]] = []
        self.pointers = [0] * size
        self.barrier = threading.Barrier(size, timeout=60)

    def get_unique_id(self) -> tuple[int, ...]:
        return tuple(range(128))

    def NcclCommunicator(self, size: int, identity: Any, rank: int) -> _Communicator:
        assert identity == self.get_unique_id()
        assert size == self.barrier.parties
        self.barrier.wait()
        return _Communicator(self, rank)


class _Communicator:
    def __init__(self, nccl: Nccl, rank: int) -> None:
        self._nccl, self._rank = nccl, rank

    def _meet(self, name: str, pointer: int, count: int, dtype: str) -> list[Any]:
        """Returns the arrays of all ranks."""
        nccl = self._nccl
        nccl.calls.append((name, self._rank, count, dtype))
        nccl.pointers[self._rank] = pointer
        nccl.barrier.wait()
        size = count * numpy.dtype(_DTYPES[dtype]).itemsize
        return [
            numpy.frombuffer((ctypes.c_char * size).from_address(p), _DTYPES[dtype])
            for p in nccl.pointers
        ]

    def bcast(self, pointer: int, count: int, dtype: str, root: int, stream: int) -> None:
        arrays = self._meet("bcast", pointer, count, dtype)
        if self._rank != root:
            arrays[self._rank][:] = arrays[root]
        self._nccl.barrier.wait()

    def reduce(
        self, send: int, receive: int, count: int, dtype: str, op: str, root: int, stream: int
    ) -> None:
        assert send == receive
        assert op == "sum"
        arrays = self._meet("reduce", send, count, dtype)
        if self._rank == root:
            # What lies between the arrays in a buffer is anything.
            with numpy.errstate(all="ignore"):
                arrays[root][:] = sum(arrays)
        self._nccl.barrier.wait()

    def destroy(self) -> None:
        self._nccl.calls.append(("destroy", self._rank))
        self._nccl.barrier.wait()  # the real one may do so

    def abort(self) -> None:
        self._nccl.calls.append(("abort", self._rank))


class Context:
    """A context of multiprocessing whose processes are threads with copies of what they get."""

    Pipe = staticmethod(multiprocessing.Pipe)
    RawArray = staticmethod(multiprocessing.RawArray)

    def get_start_method(self) -> str:
        return "spawn"

    def Process(self, target: Any, args: tuple[Any, ...], name: str) -> Any:
        assert target is parallel_workers.run_worker
        remote, _, *rest = args
        connection = Connection(os.dup(remote.fileno()))  # the caller closes its own
        model, iterator, converter, device, loss_func, exchange, seed = rest
        if isinstance(exchange, NcclExchangeOfWorker):
            assert all(param.device.name == "@numpy" for param in model.params(False))
            exchange = pickle.loads(pickle.dumps(exchange))
        model, iterator = copy.deepcopy((model, iterator))
        arguments = (connection, model, iterator, converter, device, loss_func, exchange, seed)
        thread = threading.Thread(target=_work, args=arguments, name=name, daemon=True)
        thread.exitcode = 0
        thread.terminated = threading.Event()
        thread.terminate = thread.terminated.set
        return thread


def _work(connection: Any, *args: Any) -> None:
    parallel_workers.work(connection, *args)
    connection.close()
