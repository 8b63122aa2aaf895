"""Communicator ``flat``: all gradients in one buffer of float32, over MPI."""

from __future__ import annotations

from typing import Any

import numpy

import chainer
from chainermn.communicators.array_messages import to_host
from chainermn.communicators.gradients import pack, unpack
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class FlatCommunicator(MpiCommunicatorBase):
    """Communicator for GPUs that makes one sum of all gradients.

    The buffer goes through the memory of the host, so that MPI need not know of CUDA.

    Args:
        mpi_comm: Communicator of mpi4py.

    Raises:
        RuntimeError: If CuPy is missing.
    """

    def __init__(self, mpi_comm: Any) -> None:
        require_cupy("flat")
        super().__init__(mpi_comm)

    def _mean_gradients(self, params: list[chainer.Parameter]) -> None:
        with params[0].device:
            host = to_host(pack(params, numpy.float32))
            self.mpi_comm.Allreduce(self._mpi.IN_PLACE, (host, self._mpi.FLOAT))
            host *= numpy.float32(1 / self.size)
            unpack(params, params[0].device.send(host))


def require_cupy(name: str) -> None:
    """Raises unless CuPy and a GPU are there.

    Args:
        name: Name of the communicator, for the message.

    Raises:
        RuntimeError: If one is missing.
    """
    from chainer.backends import cuda

    if not cuda.available:
        raise RuntimeError(
            f"the communicator {name!r} is for GPUs, and CuPy with a GPU is not available; use "
            "'naive' for CPUs"
        )
