"""Communicator ``pure_nccl``: gradients and parameters by NCCL, everything else by MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer.backend import backend_of
from chainermn import nccl
from chainermn.communicators.array_messages import is_on_device
from chainermn.communicators.communicator_base import Request
from chainermn.communicators.gradients import (
    check_float_dtype,
    initialized_params,
    pack,
    prepare_gradients,
    unpack,
)
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

if TYPE_CHECKING:
    from chainer.typing import Array, ArrayLike


class PureNcclCommunicator(MpiCommunicatorBase):
    """Communicator of processes with one GPU each.

    The connection of NCCL is made at the first exchange of gradients or parameters, on the CUDA
    device that is current then.

    Args:
        mpi_comm: Communicator of mpi4py.

    Attributes:
        allreduce_grad_dtype (str): Configuration: dtype in which gradients travel. None means
            ``chainer.config.dtype``.

    Raises:
        RuntimeError: If NCCL is missing.
    """

    def __init__(self, mpi_comm: Any) -> None:
        nccl.require("pure_nccl")
        super().__init__(mpi_comm)
        self._connection: Any = None
        self._mean_stream: Any = None
        with self.config_scope():
            self.allreduce_grad_dtype: str | None = None

    def set_config(self, name: str, value: ArrayLike = True) -> None:
        if name == "allreduce_grad_dtype":
            with self.config_scope():
                self.allreduce_grad_dtype = check_float_dtype(value)
            return
        super().set_config(name, value)

    def _connect(self) -> Any:
        if self._connection is None:
            identity = nccl.get_unique_id() if self.rank == 0 else None
            identity = self.mpi_comm.bcast(identity, root=0)
            self._connection = nccl.NcclCommunicator(self.size, identity, self.rank)
        return self._connection

    def _grad_dtype(self) -> Any:
        if self.allreduce_grad_dtype is not None:
            name = self.allreduce_grad_dtype
        else:
            name = numpy.dtype(chainer.get_dtype(map_mixed16=numpy.float16)).name
        if name != "bfloat16":
            return numpy.dtype(name)
        import ml_dtypes  # CuPy takes the same type

        return numpy.dtype(ml_dtypes.bfloat16)

    def bcast_data(self, model: chainer.Link) -> None:
        params = initialized_params(model)
        if not all(is_on_device(param.array) for _, param in params):
            super().bcast_data(model)
            return
        connection = self._connect()
        import cupy  # pyright: ignore[reportMissingImports]

        stream = cupy.cuda.Stream.null
        for _, param in params:
            array = cupy.ascontiguousarray(param.array)
            kind = nccl.type_of(array.dtype)
            connection.bcast(array.data.ptr, array.size, kind, 0, stream.ptr)
            if array is not param.array:
                param.array[...] = array
        stream.synchronize()

    def multi_node_mean_grad(
        self, model: chainer.Link, zero_fill: bool = False, stream: Any = None
    ) -> None:
        """Replaces gradients by their means; see :class:`CommunicatorBase`.

        Args:
            model (~chainer.Link): The model.
            zero_fill (bool): Whether missing gradients count as zeros.
            stream (cupy.cuda.Stream): Stream on which this is done; the current one if None.
        """
        if stream is None:
            super().multi_node_mean_grad(model, zero_fill)
            return
        params = prepare_gradients(model, zero_fill)
        if params:
            with stream:
                self._mean_gradients(params)

    def _mean_gradients(self, params: list[chainer.Parameter]) -> None:
        for param in params:
            if not is_on_device(param.grad):
                raise TypeError(
                    f"pure_nccl takes gradients on GPUs; that of {param.name} is on the host. Use "
                    "the communicator 'naive' for CPUs"
                )
            if str(param.dtype) not in ("float16", "bfloat16", "float32", "float64"):
                raise ValueError(f"gradients of dtype {param.dtype} cannot be averaged")
        with params[0].device:
            buffer = pack(params, self._grad_dtype())
            self._sum(buffer)
            buffer *= 1.0 / self.size
            unpack(params, buffer)

    def _sum(self, array: Array) -> None:
        """Adds up a contiguous array on a GPU, in place, on the current stream."""
        import cupy  # pyright: ignore[reportMissingImports]

        pointer = array.data.ptr
        stream = cupy.cuda.get_current_stream().ptr
        kind = nccl.type_of(array.dtype)
        self._connect().allReduce(pointer, pointer, array.size, kind, nccl.NCCL_SUM, stream)

    def mean_array(self, array: Array) -> None:
        if not is_on_device(array) or not array.flags.c_contiguous:
            super().mean_array(array)
            return
        with backend_of(array).device_of(array):
            self._sum(array)
            array *= 1.0 / self.size

    def start_mean(self, array: Array) -> Request:
        if not is_on_device(array):
            return super().start_mean(array)
        import cupy  # pyright: ignore[reportMissingImports]

        if self._mean_stream is None:
            self._mean_stream = cupy.cuda.Stream(non_blocking=True)
        ready = cupy.cuda.get_current_stream().record()
        self._mean_stream.wait_event(ready)
        with self._mean_stream:
            self.mean_array(array)
            return _StreamRequest(self._mean_stream.record())

    def finalize(self) -> None:
        """Closes the connection of NCCL. Collective."""
        if self._connection is not None:
            import cupy  # pyright: ignore[reportMissingImports]

            cupy.cuda.Stream.null.synchronize()
            self.mpi_comm.Barrier()
            self._connection.destroy()
            self._connection = None


class _StreamRequest:
    """Work on another stream.

    Args:
        event: Event of CUDA that follows the work.
    """

    def __init__(self, event: Any) -> None:
        self._event = event

    def test(self) -> bool:
        return bool(self._event.done)

    def wait(self) -> None:
        import cupy  # pyright: ignore[reportMissingImports]

        # The stream waits, not the host.
        cupy.cuda.get_current_stream().wait_event(self._event)
