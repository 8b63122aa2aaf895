"""How parameters and gradients travel between the processes of a parallel updater.

An exchange has two sides: the one of the main process, and one for each worker, which can be
pickled. ``params`` are always the same parameters in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from chainer.backends.cupy import nccl
from chainer.core.arrays.backend import backend_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext

    from chainer.core.arrays.device import Device
    from chainer.core.typing import HostArray

SharedBlock: TypeAlias = Any
"""Shared memory of processes, as ``RawArray`` of multiprocessing returns it."""

#: Bytes at whose multiples each array begins: the size of a cache line, and enough for any dtype.
_ALIGNMENT = 64


def uses_nccl(devices: Sequence[Device]) -> bool:
    """Tells whether processes on these devices exchange by NCCL: on CUDA devices, one for each."""
    distinct = len({device.index for device in devices}) == len(devices)
    on_gpus = all(device.backend.name == "cupy" for device in devices)
    return len(devices) > 1 and distinct and on_gpus


class _Layout:
    """Positions of the parameters in a block of bytes."""

    def __init__(self, params: Sequence[Any]) -> None:
        self._fields: list[tuple[int, tuple[int, ...], Any]] = []
        self.nbytes = 0
        for param in params:
            self._fields.append((self.nbytes, param.shape, param.dtype))
            size = param.size * param.dtype.itemsize
            self.nbytes += -(-size // _ALIGNMENT) * _ALIGNMENT

    def arrays(self, block: SharedBlock) -> list[HostArray]:
        """Returns an array for each parameter inside a block."""
        return [
            numpy.frombuffer(
                block, dtype, count=int(numpy.prod(shape, dtype=numpy.int64)), offset=offset
            ).reshape(shape)
            for offset, shape, dtype in self._fields
        ]


class HostExchange:
    """Exchange through shared memory of the host, between any devices.

    Args:
        context: Context of the module multiprocessing.
        params: The parameters.
        count: Number of workers.
    """

    #: Whether all processes are connected, and none is in the middle of an update.
    at_rest = True

    def __init__(self, context: BaseContext, params: Sequence[Any], count: int) -> None:
        self._layout = _Layout(params)
        size = max(self._layout.nbytes, 1)
        self._params_block = context.RawArray("b", size)
        self._grads_blocks = [context.RawArray("b", size) for _ in range(count)]
        self._param_arrays = self._layout.arrays(self._params_block)
        self._grad_arrays = [self._layout.arrays(block) for block in self._grads_blocks]

    def worker_side(self, index: int) -> HostExchangeOfWorker:
        """Returns the other side for a worker; the first has the index 1."""
        return HostExchangeOfWorker(self._layout, self._params_block, self._grads_blocks[index - 1])

    def connect(self, params: Sequence[Any], device: Device, workers: Sequence[Any]) -> None:
        """Finishes the construction once the workers have been started."""

    def share(self, params: Sequence[Any], workers: Sequence[Any]) -> None:
        """Lets the workers begin, and gives them the parameters."""
        for param, target in zip(params, self._param_arrays, strict=True):
            target[...] = backend_of(param.array).to_host(param.array)
        for worker in workers:
            worker.send("update")

    def collect(self, params: Sequence[Any], workers: Sequence[Any]) -> None:
        """Adds the gradients of the workers to the gradients of the parameters."""
        for worker, grads in zip(workers, self._grad_arrays, strict=True):
            for index in worker.receive():
                param = params[index]
                with param.device:
                    grad = param.device.send(grads[index]).copy()
                    if param.grad is not None:
                        grad += param.grad
                param.grad = grad

    def close(self, abort: bool) -> None:
        """Releases its resources: none but the shared memory, which is freed with the object."""


class HostExchangeOfWorker:
    """See :class:`HostExchange`."""

    def __init__(
        self, layout: _Layout, params_block: SharedBlock, grads_block: SharedBlock
    ) -> None:
        self._layout = layout
        self._blocks = params_block, grads_block

    def connect(self, params: Sequence[Any], device: Device, connection: Connection) -> None:
        """Finishes the construction in the process of the worker."""
        self._sources, self._targets = map(self._layout.arrays, self._blocks)

    def receive(self, params: Sequence[Any]) -> None:
        """Gives parameters the values that they have in the main process."""
        for param, source in zip(params, self._sources, strict=True):
            param.array[...] = param.device.send(source)

    def give(self, params: Sequence[Any], connection: Connection) -> bool:
        """Gives the gradients to the main process; returns whether to go on."""
        present = present_grads(params)
        for index in present:
            grad = params[index].grad
            self._targets[index][...] = backend_of(grad).to_host(grad)
        connection.send(("done", present))
        return True

    def close(self, abort: bool) -> None:
        """Releases its resources: none but the shared memory, which is freed with the object."""


class NcclExchange:
    """Exchange by NCCL between CUDA devices, of which each process has one.

    An operation of NCCL blocks until all processes call it. So each worker first tells by its pipe
    that it is ready: if one fails before, no other waits for it forever.

    Args:
        count: Number of workers.
    """

    def __init__(self, count: int) -> None:
        self._identity = nccl.unique_id()
        self._size = count + 1
        self._device: Any = None
        self.at_rest = False
        self._communicator: Any = None

    def worker_side(self, index: int) -> NcclExchangeOfWorker:
        """Returns the other side for a worker; the first has the index 1."""
        return NcclExchangeOfWorker(self._identity, self._size, index)

    def connect(self, params: Sequence[Any], device: Device, workers: Sequence[Any]) -> None:
        """Waits for the workers and makes the communicator with them."""
        for worker in workers:
            worker.receive()
        for worker in workers:
            worker.send("connect")
        self._device = device
        with device:
            arrays = [param.array for param in params]
            self._communicator = nccl.Communicator(self._identity, self._size, 0, arrays)
        self.at_rest = True

    def share(self, params: Sequence[Any], workers: Sequence[Any]) -> None:
        """Lets the workers begin, and gives them the parameters."""
        for worker in workers:
            worker.send("update")
        self.at_rest = False
        with self._device:
            self._communicator.broadcast([param.array for param in params])

    def collect(self, params: Sequence[Any], workers: Sequence[Any]) -> None:
        """Adds the gradients of the workers to the gradients of the parameters."""
        present = set(present_grads(params))
        for worker in workers:
            present.update(worker.receive())
        for worker in workers:
            worker.send("reduce")
        with self._device:
            sums = self._communicator.sum([param.grad for param in params])
        self.at_rest = True
        for index in present:
            params[index].grad = sums[index]

    def close(self, abort: bool) -> None:
        """Ends the communicator. Unless it is aborted, this waits until all processes do it."""
        if self._communicator is not None:
            with self._device:
                self._communicator.close(abort)
            self._communicator = None


class NcclExchangeOfWorker:
    """See :class:`NcclExchange`."""

    def __init__(self, identity: bytes, size: int, rank: int) -> None:
        self._arguments = identity, size, rank
        self._device: Any = None
        self._communicator: Any = None

    def connect(self, params: Sequence[Any], device: Device, connection: Connection) -> None:
        """Makes the communicator when all are ready."""
        connection.send(("ready", None))
        if connection.recv() != "connect":
            raise EOFError  # the main process does not go on
        self._device = device
        with device:
            arrays = [param.array for param in params]
            self._communicator = nccl.Communicator(*self._arguments, arrays)

    def receive(self, params: Sequence[Any]) -> None:
        """Gives parameters the values that they have in the main process."""
        with self._device:
            self._communicator.broadcast([param.array for param in params])

    def give(self, params: Sequence[Any], connection: Connection) -> bool:
        """Gives the gradients to the main process; returns whether to go on."""
        connection.send(("done", present_grads(params)))
        if connection.recv() != "reduce":
            return False
        with self._device:
            self._communicator.sum([param.grad for param in params])
        return True

    def close(self, abort: bool) -> None:
        """Ends the communicator. Unless it is aborted, this waits until all processes do it."""
        if self._communicator is not None:
            with self._device:
                self._communicator.close(abort)


Exchange: TypeAlias = HostExchange | NcclExchange
"""Side of the main process."""

WorkerSide: TypeAlias = HostExchangeOfWorker | NcclExchangeOfWorker
"""Side of a worker."""


def present_grads(params: Sequence[Any]) -> list[int]:
    """Returns the indexes of the parameters that have gradients."""
    return [index for index, param in enumerate(params) if param.grad is not None]


def exchange_for(
    devices: Sequence[Device], make_context: Callable[[], BaseContext], params: Sequence[Any]
) -> Exchange:
    """Returns the exchange between the processes of devices, the first of them the main one.

    Raises:
        RuntimeError: If the devices need NCCL and it is missing.
    """
    if uses_nccl(devices):
        return NcclExchange(len(devices) - 1)
    return HostExchange(make_context(), params, len(devices) - 1)
