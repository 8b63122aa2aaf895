"""Optimizers that average gradients over processes."""

from __future__ import annotations

from typing import Any

from chainermn.communicators.communicator_base import CommunicatorBase, require_communicator
from chainermn.optimizers.buckets import DEFAULT_BUCKET_BYTES
from chainermn.optimizers.double_buffering import DoubleBufferingOptimizer
from chainermn.optimizers.multi_node_optimizer import MultiNodeOptimizer
from chainermn.optimizers.sharded import ShardedOptimizer

__all__ = [
    "DoubleBufferingOptimizer",
    "MultiNodeOptimizer",
    "ShardedOptimizer",
    "create_multi_node_optimizer",
]


def create_multi_node_optimizer(
    actual_optimizer: Any,
    communicator: CommunicatorBase,
    double_buffering: bool = False,
    zero_fill: bool = True,
    *,
    overlap: bool = False,
    bucket_bytes: int = DEFAULT_BUCKET_BYTES,
    shard_states: bool = False,
    accumulate: int = 1,
) -> Any:
    """Makes an optimizer that updates with the mean gradients of all processes.

    Its first ``update()``, and the first one after parameters were added or initialized, gives the
    parameters of rank 0 to all processes and does nothing else. Other attributes than those below
    are read from and written to the actual optimizer.

    Args:
        actual_optimizer (~chainer.Optimizer): The optimizer.
        communicator (CommunicatorBase): Communicator.
        double_buffering (bool): Whether gradients are averaged while the next iteration computes
            and applied after it: they are one iteration old. For ``pure_nccl`` and ``naive``.
        zero_fill (bool): Whether a missing gradient counts as zeros; otherwise it must be missing
            in all processes.
        overlap (bool): Whether gradients are averaged in buckets while backward still computes the
            gradients of other parameters. Missing gradients count as zeros.
        bucket_bytes (int): Size of a bucket in bytes.
        shard_states (bool): Whether each process keeps the states of the optimizer for a part of
            the parameters only, and updates that part (ZeRO, stage 1).
        accumulate (int): Number of calls of ``update(lossfun, ...)`` whose gradients are averaged
            for one update of the parameters.

    Returns:
        MultiNodeOptimizer: The optimizer.

    Raises:
        ValueError: If options exclude each other, or the communicator cannot buffer gradients.
        TypeError: If ``actual_optimizer`` is not an optimizer.

    See: `ZeRO: Memory Optimizations Toward Training Trillion Parameter Models
    <https://arxiv.org/abs/1910.02054>`_

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> model = L.Linear(2, 1, initialW=0)
        >>> optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(lr=0.1), comm)
        >>> optimizer = optimizer.setup(model)
        >>> def loss(x):
        ...     return F.sum((model(x) - 1) ** 2)
        >>> x = np.ones((1, 2), np.float32)
        >>> optimizer.update(loss, x)  # the first call gives all processes the same parameters
        >>> optimizer.update(loss, x)
        >>> model.b.array
        array([0.2], dtype=float32)
    """
    require_communicator("communicator", communicator)
    if double_buffering:
        if overlap or shard_states or accumulate != 1:
            raise ValueError(
                "double_buffering cannot be combined with overlap, shard_states or accumulate"
            )
        return DoubleBufferingOptimizer(actual_optimizer, communicator, zero_fill)
    kind = ShardedOptimizer if shard_states else MultiNodeOptimizer
    return kind(
        actual_optimizer,
        communicator,
        zero_fill,
        overlap=overlap,
        bucket_bytes=bucket_bytes,
        accumulate=accumulate,
    )
