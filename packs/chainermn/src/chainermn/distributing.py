"""A trainer of one process as one of many."""

from __future__ import annotations

import warnings
from typing import Any

from chainer.training.extensions import Snapshot
from chainer.training.extensions.evaluator import Evaluator
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.datasets import scatter_dataset
from chainermn.extensions import create_multi_node_evaluator, multi_node_snapshot
from chainermn.iterators.multi_node_iterator import _MultiNodeIterator
from chainermn.optimizers import MultiNodeOptimizer, create_multi_node_optimizer
from chainermn.sharding import FullyShardedOptimizer

#: Extensions that only print or write what rank 0 has anyway.
REPORTS = (
    "LogReport",
    "PrintReport",
    "PlotReport",
    "ProgressBar",
    "VariableStatisticsPlot",
    "DumpGraph",
)


def distribute(
    trainer: Any,
    comm: CommunicatorBase,
    *,
    scatter: bool = True,
    shuffle: bool = True,
    seed: int | None = 0,
    shard: str | None = None,
    **optimizer_options: Any,
) -> Any:
    """Makes a trainer that was written for one process one of many. Collective.

    Call it when everything is registered, before ``trainer.run()``.

    - The datasets of the iterators of the updater are cut into one part of equal length for each
      process, and so are the datasets of evaluators. Rank 0 sends its datasets.
    - Optimizers average gradients, and parameters of rank 0 are given to all.
    - Evaluators report the means over all processes.
    - Extensions that report (:class:`~chainer.training.extensions.LogReport` and the like) stay in
      rank 0 only. Snapshots are written by rank 0; with ``autoload`` all processes load them.

    The batch size stays as in the script, so the effective one is ``comm.size`` times that, and an
    epoch has fewer iterations. The learning rate is left to the script.

    Args:
        trainer (~chainer.training.Trainer): The trainer.
        comm (CommunicatorBase): Communicator.
        scatter (bool): Whether datasets are cut. Without it, each process iterates over its own.
        shuffle (bool): Whether examples of the training are assigned in a random order.
        seed (int): Seed of that order, so that a run that is started again has the same parts.
        shard (str): ``"parameters"`` spreads parameters, gradients and optimizer states over the
            processes, layer by layer (ZeRO, stage 3); ``"gradients"`` spreads gradients and states
            (stage 2). See :class:`~chainermn.sharding.FullyShardedOptimizer`.
        optimizer_options: Options of :func:`~chainermn.create_multi_node_optimizer`, or of
            :class:`~chainermn.sharding.FullyShardedOptimizer`.

    Returns:
        The same trainer.

    Raises:
        TypeError: If an iterator has no ``dataset`` that can be replaced.
        ValueError: If ``shard`` is given and the updater captures its updates.

    Example:
        In every process. The rest of the script is the same as for one process:

        >>> import chainermn
        >>> from chainer import training
        >>> comm = chainermn.create_communicator("naive")
        >>> data = [(np.ones(2, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> optimizer = chainer.optimizers.SGD().setup(L.Classifier(L.Linear(2, 2)))
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (1, "epoch"))
        >>> chainermn.distribute(trainer, comm).run()
        >>> updater.iteration  # two batches of 4 examples in each of comm.size processes
        2
    """
    updater = trainer.updater
    if shard is not None and getattr(updater, "_capture", False):
        raise ValueError(
            f"distribute(shard={shard!r}) needs StandardUpdater(capture=False): a captured update "
            "repeats operations on arrays only, and would not send the layers and gradients. Leave "
            "out capture, or leave out shard"
        )
    for name, optimizer in updater.get_all_optimizers().items():
        if not isinstance(optimizer, MultiNodeOptimizer):
            if shard is None:
                optimizer = create_multi_node_optimizer(optimizer, comm, **optimizer_options)
            else:
                optimizer = FullyShardedOptimizer(optimizer, comm, shard, **optimizer_options)
            updater._optimizers[name] = optimizer
        optimizer.broadcast_parameters()
    if scatter:
        for name, iterator in updater._iterators.items():
            _scatter_iterator(name, iterator, comm, shuffle, seed)
    for name, entry in list(trainer._extensions.items()):
        extension = entry.extension
        if isinstance(extension, Evaluator):
            if scatter and not hasattr(extension, "_mn_communicator"):
                for key, iterator in extension.get_all_iterators().items():
                    _scatter_iterator(key, iterator, comm, False, None)
            if not hasattr(extension, "_mn_communicator"):
                create_multi_node_evaluator(extension, comm)
        elif isinstance(extension, Snapshot):
            entry.extension = multi_node_snapshot(comm, extension, [])
        elif comm.rank != 0 and type(extension).__name__ in REPORTS:
            del trainer._extensions[name]
    return trainer


def _scatter_iterator(
    name: str, iterator: Any, comm: CommunicatorBase, shuffle: bool, seed: int | None
) -> None:
    if isinstance(iterator, _MultiNodeIterator):
        return  # gives all processes the same batches on purpose
    if not hasattr(iterator, "dataset") or not hasattr(iterator, "reset"):
        raise TypeError(
            f"distribute() cannot cut the dataset of iterator {name!r}, a "
            f"{type(iterator).__name__}: it needs 'dataset' and 'reset'. Use scatter_dataset() "
            "and distribute(..., scatter=False)"
        )
    if getattr(iterator, "epoch", 0) or getattr(iterator, "current_position", 0):
        warnings.warn(f"iterator {name!r} has begun; distribute() resets it", stacklevel=3)
    dataset = iterator.dataset if comm.rank == 0 else None
    iterator.dataset = scatter_dataset(dataset, comm, shuffle=shuffle, seed=seed)
    iterator.reset()
