"""Communicator ``non_cuda_aware``: NCCL within a host, MPI between hosts."""

from __future__ import annotations

from typing import Any

import numpy

import chainer
from chainermn import nccl
from chainermn.communicators.array_messages import is_on_device, to_host
from chainermn.communicators.gradients import pack, unpack
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class NonCudaAwareCommunicator(MpiCommunicatorBase):
    """Communicator for GPUs with an MPI that does not know of CUDA.

    Gradients are added to the first GPU of each host, these sums between the hosts, and the result
    goes to the GPUs of each host. All of it is float32.

    Args:
        mpi_comm: Communicator of mpi4py.

    Raises:
        RuntimeError: If NCCL is missing.
    """

    def __init__(self, mpi_comm: Any) -> None:
        nccl.require("non_cuda_aware")
        super().__init__(mpi_comm)
        self._within_host = mpi_comm.Split(self.inter_rank, self.rank)
        # The first processes of all hosts; the others get a communicator that is not used.
        self._between_hosts = mpi_comm.Split(0 if self.intra_rank == 0 else 1, self.rank)
        self._connection: Any = None

    def _connect(self) -> Any:
        if self._connection is None:
            identity = nccl.get_unique_id() if self.intra_rank == 0 else None
            identity = self._within_host.bcast(identity, root=0)
            self._connection = nccl.NcclCommunicator(self.intra_size, identity, self.intra_rank)
        return self._connection

    def _mean_gradients(self, params: list[chainer.Parameter]) -> None:
        for param in params:
            if not is_on_device(param.grad):
                raise TypeError(
                    f"non_cuda_aware takes gradients on GPUs; that of {param.name} is on the host"
                )
        import cupy  # pyright: ignore[reportMissingImports]

        connection = self._connect()
        with params[0].device:
            buffer = pack(params, numpy.float32)
            stream = cupy.cuda.get_current_stream()
            pointer, size, kind = buffer.data.ptr, buffer.size, nccl.type_of(buffer.dtype)
            connection.reduce(pointer, pointer, size, kind, nccl.NCCL_SUM, 0, stream.ptr)
            if self.intra_rank == 0:
                host = to_host(buffer)
                self._between_hosts.Allreduce(self._mpi.IN_PLACE, (host, self._mpi.FLOAT))
                host *= numpy.float32(1 / self.size)
                buffer[...] = params[0].device.send(host)
            connection.bcast(pointer, size, kind, 0, stream.ptr)
            unpack(params, buffer)

    def finalize(self) -> None:
        """Closes the connection of NCCL. Collective."""
        if self._connection is not None:
            import cupy  # pyright: ignore[reportMissingImports]

            cupy.cuda.Stream.null.synchronize()
            self.mpi_comm.Barrier()
            self._connection.destroy()
            self._connection = None
