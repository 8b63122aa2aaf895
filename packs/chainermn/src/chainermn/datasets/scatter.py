"""Datasets and indexes that are cut into one part for each process."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from chainer.datasets import SubDataset
from chainer.utils.argument import require_attribute
from chainermn.communicators.communicator_base import CommunicatorBase, require_communicator


class DataSizeError(RuntimeError):
    """Raised by earlier releases for datasets that were too large to send; kept for programs."""


def part_of(count: int, size: int, rank: int, force_equal_length: bool) -> tuple[int, int]:
    """Returns the first and the last index (exclusive) of a part.

    Args:
        count: Number of examples.
        size: Number of parts.
        rank: Number of the part.
        force_equal_length: Whether all parts have the same length. Neighbors then may have an
            example in common.
    """
    if force_equal_length:
        begin = count * rank // size
        return begin, begin + -(-count // size)
    short, longer = divmod(count, size)
    begin = rank * short + min(rank, longer)
    return begin, begin + short + (rank < longer)


def scatter_index(
    n_total_samples: int | None,
    comm: CommunicatorBase,
    root: int = 0,
    *,
    force_equal_length: bool = True,
) -> tuple[int, int]:
    """Cuts the indexes of a dataset into one part for each process. Collective.

    Args:
        n_total_samples (int): Number of examples; what other processes than the root give is
            ignored.
        comm (CommunicatorBase): Communicator.
        root (int): Rank of the process that knows the number.
        force_equal_length (bool): Whether all parts have the same length. Neighbors then may have
            one example in common. Otherwise no example is in two parts, and lengths differ by one
            at most.

    Returns:
        tuple of int: First index and the one after the last.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> chainermn.scatter_index(10, comm)
        (0, 10)
    """
    _check_root(root, comm)
    count = comm.bcast_obj(n_total_samples, root=root)
    return part_of(count, comm.size, comm.rank, force_equal_length)


def scatter_dataset(
    dataset: Any,
    comm: CommunicatorBase,
    root: int = 0,
    shuffle: bool = False,
    seed: int | None = None,
    max_buf_len: int = 256 * 1024 * 1024,
    *,
    force_equal_length: bool = True,
) -> SubDataset:
    """Cuts a dataset into one part for each process. Collective.

    The dataset is pickled and sent to all processes as a whole, so one of large images should hold
    their paths.

    Args:
        dataset: Dataset of the root. Others pass None; what they pass is ignored.
        comm (CommunicatorBase): Communicator.
        root (int): Rank of the process that has the dataset.
        shuffle (bool): Whether examples are assigned in a random order.
        seed (int): Seed of that order.
        max_buf_len (int): Greatest number of bytes that are sent at once.
        force_equal_length (bool): Whether all parts have the same length; see
            :func:`scatter_index`. Training needs that. For exact results of a test, pass False and
            use :class:`~chainermn.extensions.GenericMultiNodeEvaluator`.

    Returns:
        SubDataset: The part of this process.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> part = chainermn.scatter_dataset(list(range(6)), comm, shuffle=True, seed=0)
        >>> len(part)  # 6 in one process, 3 in each of two
        6
    """
    require_communicator("comm", comm)
    _check_root(root, comm)
    if comm.rank == root:
        require_attribute("dataset", dataset, "__len__", "a dataset (in the process of the root)")
    order = None
    if comm.rank == root and shuffle:
        order = numpy.random.RandomState(seed).permutation(len(dataset))
    dataset, order = comm.bcast_obj((dataset, order), max_buf_len=max_buf_len, root=root)
    begin, end = part_of(len(dataset), comm.size, comm.rank, force_equal_length)
    return SubDataset(dataset, begin, end, order)


def _check_root(root: int, comm: CommunicatorBase) -> None:
    # An AssertionError, as in release 7.
    if not 0 <= root < comm.size:
        raise AssertionError(f"root must be a rank from 0 to {comm.size - 1}, got {root}")


def get_n_iterations_for_one_epoch(
    dataset: Any, local_batch_size: int, comm: CommunicatorBase
) -> int:
    """Returns the number of iterations in an epoch on rank 0. Deprecated.

    All processes must call it.

    Args:
        dataset: Part of the dataset of this process.
        local_batch_size (int): Number of examples of a batch.
        comm (CommunicatorBase): Communicator.
    """
    warnings.warn(
        "get_n_iterations_for_one_epoch is deprecated: scatter_dataset gives parts of equal length",
        DeprecationWarning,
        stacklevel=2,
    )
    return comm.bcast_obj(-(-len(dataset) // local_batch_size))


def get_epoch_trigger(
    n_epochs: int, dataset: Any, local_batch_size: int, comm: CommunicatorBase
) -> tuple[int, str]:
    """Returns a trigger of a number of epochs, in iterations. Deprecated; collective.

    Args:
        n_epochs (int): Number of epochs.
        dataset: Part of the dataset of this process.
        local_batch_size (int): Number of examples of a batch.
        comm (CommunicatorBase): Communicator.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        count = get_n_iterations_for_one_epoch(dataset, local_batch_size, comm)
    warnings.warn("get_epoch_trigger is deprecated", DeprecationWarning, stacklevel=2)
    return n_epochs * count, "iteration"
