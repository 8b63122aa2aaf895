"""Evaluation of parts of a dataset in several processes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import chainer
from chainer.dataset import concat_examples
from chainer.training.extension import PRIORITY_WRITER, Extension
from chainer.utils.argument import require_attribute
from chainermn.communicators.communicator_base import CommunicatorBase, require_communicator

if TYPE_CHECKING:
    from chainer.training import Trainer
    from chainer.typing import ArrayLike


def create_multi_node_evaluator(actual_evaluator: Any, communicator: CommunicatorBase) -> Any:
    """Makes an evaluator report the means over all processes.

    The result is the mean of the local means, so parts of the dataset should have equal lengths.
    All processes must report the same names.

    Args:
        actual_evaluator (~chainer.training.extensions.Evaluator): Evaluator of the part of this
            process. It is changed.
        communicator (CommunicatorBase): Communicator.

    Returns:
        The same evaluator. Its ``evaluate()`` is collective.

    Example:
        >>> import chainermn
        >>> comm = chainermn.create_communicator("naive")
        >>> x, t = np.zeros((4, 2), np.float32), np.zeros(4, np.int32)
        >>> data = chainer.datasets.TupleDataset(x, t)
        >>> iterator = chainer.iterators.SerialIterator(data, 2, repeat=False, shuffle=False)
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> evaluator = chainer.training.extensions.Evaluator(iterator, model)
        >>> evaluator = chainermn.create_multi_node_evaluator(evaluator, comm)
        >>> sorted(evaluator())
        ['main/accuracy', 'main/loss']
    """
    require_attribute("actual_evaluator", actual_evaluator, "evaluate", "an Evaluator")
    require_communicator("communicator", communicator)
    actual_evaluator._mn_original_evaluate = actual_evaluator.evaluate
    actual_evaluator._mn_communicator = communicator

    def evaluate() -> dict[str, Any]:
        local = actual_evaluator._mn_original_evaluate()
        names = sorted(local)
        # One message for all values; errors are raised in all processes.
        entries = communicator.allgather_obj([(name, float(_host(local[name]))) for name in names])
        for rank, entry in enumerate(entries):
            others = [name for name, _ in entry]
            if others != names:
                raise ValueError(
                    f"evaluators report different values: {others} in rank {rank}, {names} in "
                    f"rank {communicator.rank}"
                )
        sums = [sum(values) for values in zip(*([v for _, v in entry] for entry in entries))]
        return {name: total / communicator.size for name, total in zip(names, sums, strict=True)}

    actual_evaluator.evaluate = evaluate
    return actual_evaluator


def _host(value: ArrayLike) -> Any:
    value = getattr(value, "array", value)
    return chainer.get_device("@numpy").send(value) if hasattr(value, "dtype") else value


class GenericMultiNodeEvaluator(Extension):
    """Extension that evaluates a dataset in parts, with results that are more than means.

    Override :meth:`calc_local` and :meth:`aggregate`. Parts may have different lengths (argument
    ``force_equal_length=False`` of :func:`~chainermn.scatter_dataset`).

    Args:
        comm (CommunicatorBase): Communicator.
        iterator (~chainer.dataset.Iterator): Iterator over the part of this process, which must not
            repeat.
        target (callable): Function that :meth:`calc_local` calls.
        device: Device to which batches are sent.
        converter (callable): Converter of batches.
        root (int): Rank of the process that aggregates.
        progress_hook (callable): Called at the root with each batch.
    """

    trigger = (1, "epoch")
    # The base class makes it a property, so that a subclass may write a string.
    default_name = "validation"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]
    priority = PRIORITY_WRITER
    name: str | None = None

    #: After this number of batches the root tells whether all processes have finished.
    _ROUNDS = 8

    def __init__(
        self,
        comm: CommunicatorBase,
        iterator: Any,
        target: Callable[..., Any],
        device: Any = None,
        converter: Callable[..., Any] = concat_examples,
        root: int = 0,
        *,
        progress_hook: Callable[[Any], Any] | None = None,
    ) -> None:
        if not 0 <= root < comm.size:
            raise AssertionError(f"root must be a rank from 0 to {comm.size - 1}, got {root}")
        self.comm = comm
        self.iterator = iterator
        self._targets = {"main": target}
        self.device = device
        self.converter = converter
        self.root = root
        self.progress_hook = progress_hook

    def __call__(self, trainer: Trainer | None = None) -> Any:
        """Evaluates. Collective.

        Args:
            trainer (~chainer.training.Trainer): Not used; may be left out.

        Returns:
            The result of :meth:`aggregate` at the root; None elsewhere.
        """
        iterator = self.iterator
        if hasattr(iterator, "reset"):
            iterator.reset()
        else:
            iterator = copy.copy(iterator)
        is_root = self.comm.rank == self.root
        results: list[Any] = []
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            batches = iter(iterator)
            all_done = False
            while not all_done:
                for _ in range(self._ROUNDS):
                    result = self._next_result(batches)
                    gathered = self.comm.gather_obj(result, root=self.root)
                    if gathered is not None:
                        results.extend(gathered)
                        all_done = all(each is None for each in gathered)
                all_done = self.comm.bcast_obj(all_done if is_root else None, root=self.root)
        if not is_root:
            return None
        return self.aggregate([result for result in results if result is not None])

    def _next_result(self, batches: Any) -> Any:
        batch = next(batches, None)
        if batch is None:
            return None
        if self.progress_hook is not None and self.comm.rank == self.root:
            self.progress_hook(batch)
        arrays = self.converter(batch, self.device)
        if isinstance(arrays, tuple):
            result = self.calc_local(*arrays)
        elif isinstance(arrays, dict):
            result = self.calc_local(**arrays)
        else:
            result = self.calc_local(arrays)
        if result is None:
            raise ValueError("calc_local must not return None, which says that there is no batch")
        return result

    def calc_local(self, *args: Any, **kwargs: Any) -> Any:
        """Evaluates one batch.

        Args:
            args, kwargs: The converted batch.

        Returns:
            Anything that can be pickled but None; by default what the target returns.
        """
        return self._targets["main"](*args, **kwargs)

    def aggregate(self, results: list[Any]) -> Any:
        """Makes one result of the results of all batches; called at the root.

        Args:
            results (list): Results of :meth:`calc_local`: for each batch, in order of the ranks.

        Returns:
            The result; by default ``results``.
        """
        return results
