"""Communicators, and the function that makes them by name."""

from __future__ import annotations

import os
import warnings
from typing import Any

from chainer.plugins import registries
from chainermn.communicators.communicator_base import CommunicatorBase

#: Names of earlier releases. Programs that use them get the best communicator for GPUs.
_OLD_NAMES = ("hierarchical", "two_dimensional", "single_node")

__all__ = ["CommunicatorBase", "create_communicator"]


def create_communicator(
    communicator_name: str = "pure_nccl", mpi_comm: Any = None, **kwargs: Any
) -> CommunicatorBase:
    """Makes a communicator. Collective over ``mpi_comm``.

    ================== ============ ==============================================================
    name               arrays       gradients
    ================== ============ ==============================================================
    ``naive``          any          MPI; the one for CPUs
    ``pure_nccl``      CuPy         NCCL; MPI for the start
    ``flat``           CuPy         MPI, in one buffer of float32
    ``non_cuda_aware`` CuPy         NCCL within a host, MPI between hosts
    ``dummy``          CuPy         packed and unpacked, but not sent: results are wrong
    ``auto``                        ``pure_nccl`` where NCCL works, else ``naive``
    ================== ============ ==============================================================

    Plugins may register more names (hook ``chainer_communicators``). If there are several
    processes, an exception that nothing catches ends all of them (see
    :mod:`chainermn.global_except_hook`).

    Args:
        communicator_name (str): Name of the communicator.
        mpi_comm: Communicator of mpi4py; ``MPI.COMM_WORLD`` if None.
        allreduce_grad_dtype: Keyword of ``naive`` and ``pure_nccl``: dtype in which gradients
            travel: ``'float16'``, ``'bfloat16'``, ``'float32'``, ``'float64'`` or None.
        batched_copy (bool): Keyword: whether gradients on GPUs are packed by one kernel; True by
            default.

    Returns:
        CommunicatorBase: The communicator.

    Raises:
        ImportError: If mpi4py or an MPI library is missing.
        ValueError: If the name is unknown, or does not take ``allreduce_grad_dtype``.
        TypeError: If there is another keyword.
        RuntimeError: If CuPy or NCCL is missing for a name that needs it, or the launcher belongs
            to another MPI than mpi4py.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> comm.rank, comm.size  # one process here; mpiexec -n 4 makes four
        (0, 1)
    """
    from chainermn.mpi import check_launcher, load_mpi

    mpi = load_mpi()
    if mpi_comm is None:
        check_launcher(mpi)
        mpi_comm = mpi.COMM_WORLD
    dtype = kwargs.pop("allreduce_grad_dtype", None)
    batched_copy = kwargs.pop("batched_copy", True)
    if kwargs:
        names = ", ".join(map(repr, kwargs))
        raise TypeError(f"create_communicator() got unexpected keyword argument(s) {names}")
    name = _actual_name(communicator_name)
    registry = registries.communicators
    registry.load_all()
    if registry.find(name) is None:
        known = [*registry.names(), "auto"]
        raise ValueError(
            f"unknown communicator {communicator_name!r}; there are: {', '.join(sorted(known))}"
        )
    communicator = registry.get(name)(mpi_comm)
    communicator.set_config("batched_copy", batched_copy)
    if dtype is not None:
        if "allreduce_grad_dtype" not in communicator.get_config():
            communicator.finalize()
            raise ValueError(
                "allreduce_grad_dtype is for the communicators 'naive' and 'pure_nccl', "
                f"not for {name!r}"
            )
        communicator.set_config("allreduce_grad_dtype", dtype)
    if communicator.size > 1 and os.environ.get("CHAINERMN_FORCE_ABORT_ON_EXCEPTION", "1") != "0":
        from chainermn.global_except_hook import install

        install()
    return communicator


def _actual_name(name: str) -> str:
    if name in _OLD_NAMES:
        warnings.warn(
            f"the communicator {name!r} is gone since release 7; 'pure_nccl' is used instead",
            DeprecationWarning,
            stacklevel=3,
        )
        return "pure_nccl"
    if name == "auto":
        from chainermn import nccl

        return "pure_nccl" if nccl.missing() is None else "naive"
    return name
