"""Communicator ``dummy``: packs and unpacks gradients, and sends nothing."""

from __future__ import annotations

from typing import Any

import numpy

import chainer
from chainermn.communicators.flat_communicator import require_cupy
from chainermn.communicators.gradients import pack, unpack
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class DummyCommunicator(MpiCommunicatorBase):
    """Measures what packing costs. Each process keeps its own gradients: results are wrong.

    Args:
        mpi_comm: Communicator of mpi4py.

    Raises:
        RuntimeError: If CuPy is missing.
    """

    def __init__(self, mpi_comm: Any) -> None:
        require_cupy("dummy")
        super().__init__(mpi_comm)

    def _mean_gradients(self, params: list[chainer.Parameter]) -> None:
        with params[0].device:
            unpack(params, pack(params, numpy.float32))
