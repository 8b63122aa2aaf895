"""Large batches in small pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from chainer.core.arrays.backend import get_array_module, get_device_from_array, using_device
from chainer.core.autograd.variable import Variable
from chainer.core.reporting.reporter import get_current_reporter, report
from chainer.core.reporting.summary import DictSummary
from chainer.links.serializer import Serializer
from chainer.training.dataset.convert import call_converter, concat_examples
from chainer.training.updaters.standard_updater import StandardUpdater, call_with_batch


class GradientAccumulationUpdater(StandardUpdater):
    """Updater that adds up the gradients of several minibatches before it updates.

    An update with ``n_accumulate`` minibatches of the iterator equals one with a single minibatch
    of all their examples, but takes the memory of one of them. That holds for models whose loss is
    a mean over the examples, or a sum (see ``reduction``), and that treat each example by itself:
    batch normalization sees the minibatches of the iterator, not the large one.

    ``iteration`` counts updates. Values that the model reports are averaged over the minibatches,
    weighted by their numbers of examples, a summed loss too. When the iterator ends
    (``repeat=False``), the last update is made from what there is.

    Args:
        iterator: Dataset iterator, or a dictionary of iterators; the one called ``'main'`` is used.
        optimizer: Optimizer, or a dictionary of optimizers; the one called ``'main'`` is used.
        converter: Function that makes input arrays of a batch, called with it and the device, as by
            :class:`chainer.training.updaters.StandardUpdater`.
        device: Device to which the training data is sent: anything :func:`chainer.get_device`
            takes.
        loss_func: Loss function; the target link of the optimizer by default.
        loss_scale: Factor against the vanishing of low-precision gradients; see
            :class:`~chainer.training.StandardUpdater`.
        auto_new_epoch: Whether the optimizers are told about the end of an epoch.
        n_accumulate: Number of minibatches for each update, 1 or more.
        reduction: How the loss combines the examples of a batch: ``'mean'`` or ``'sum'``.

    Raises:
        TypeError: If ``optimizer`` is neither an optimizer nor a dictionary of optimizers.
        ValueError: If ``n_accumulate`` or ``reduction`` is out of its range.

    Example:
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> from chainer.training.updaters import GradientAccumulationUpdater
        >>> updater = GradientAccumulationUpdater(iterator, optimizer, n_accumulate=2)
        >>> updater.update()
        >>> iterator.epoch, optimizer.t  # two batches, one update
        (1, 1)
    """

    def __init__(
        self,
        iterator: Any,
        optimizer: Any,
        converter: Callable[..., Any] = concat_examples,
        device: Any = None,
        loss_func: Callable[..., Variable] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
        *,
        n_accumulate: int,
        reduction: str = "mean",
    ) -> None:
        if n_accumulate < 1:
            raise ValueError(f"n_accumulate must be 1 or more, got {n_accumulate}")
        if reduction not in ("mean", "sum"):
            raise ValueError(f"reduction must be 'mean' or 'sum', got {reduction!r}")
        super().__init__(
            iterator, optimizer, converter, device, loss_func, loss_scale, auto_new_epoch
        )
        self.n_accumulate = n_accumulate
        self.reduction = reduction
        self._previous_epoch_detail: float | None = None
        self._new_epochs = 0

    @property
    def previous_epoch_detail(self) -> float | None:
        """Value of :attr:`epoch_detail` before the last update; None before the first."""
        return self._previous_epoch_detail

    @property
    def is_new_epoch(self) -> bool:
        """Whether an epoch ended within the last update."""
        return self._new_epochs > 0

    def update(self) -> None:
        """Makes one update of up to ``n_accumulate`` minibatches and counts the iteration.

        Raises:
            StopIteration: If the iterator has ended.
        """
        self.update_core()
        self.iteration += 1
        if self.auto_new_epoch:
            for _ in range(self._new_epochs):
                for optimizer in self.get_all_optimizers().values():
                    if optimizer.use_auto_new_epoch:
                        optimizer.new_epoch(auto=True)

    def update_core(self) -> None:
        """Fetches the minibatches, adds up their gradients and updates the parameters."""
        batches = self._fetch()
        optimizer = self.get_optimizer("main")
        loss_func = self.loss_func or optimizer.target
        total = sum(len(batch) for batch in batches)
        observations = _WeightedObservations()
        optimizer.target.cleargrads()
        for batch in batches:
            share = len(batch) / total
            with observations.part(share):
                arrays = call_converter(self.converter, batch, self.device)
                loss = call_with_batch(loss_func, arrays)
            if not isinstance(loss, Variable):
                raise TypeError(
                    f"the loss function must return a Variable, got {type(loss).__name__}"
                )
            if self.reduction == "mean" and share != 1:
                loss = loss * share
            loss.backward(loss_scale=self.loss_scale)
            del loss  # its graph goes before the next one comes
        observations.report()
        optimizer.update()

    def _fetch(self) -> list[Any]:
        """Returns the next minibatches and takes note of what happened to the epoch."""
        iterator = self.get_iterator("main")
        previous = iterator.epoch_detail
        batches: list[Any] = []
        new_epochs = 0
        for _ in range(self.n_accumulate):
            try:
                batches.append(next(iterator))
            except StopIteration:
                if not batches:
                    raise
                break
            new_epochs += bool(iterator.is_new_epoch)
        self._previous_epoch_detail = previous
        self._new_epochs = new_epochs
        return batches

    def serialize(self, serializer: Any) -> None:
        """Serializes iterators, optimizers, their target links and the number of updates.

        A snapshot of a :class:`~chainer.training.StandardUpdater` can be loaded too.

        Args:
            serializer: Serializer or deserializer.
        """
        super().serialize(serializer)
        if isinstance(serializer, Serializer):
            serializer("new_epochs", self._new_epochs)
            serializer("previous_epoch_detail", self._previous_epoch_detail)
            return
        iterator = self.get_iterator("main")
        try:
            self._new_epochs = int(serializer("new_epochs", self._new_epochs))
            previous = serializer("previous_epoch_detail", None)
        except KeyError:  # a snapshot of a StandardUpdater
            self._new_epochs = int(iterator.is_new_epoch)
            previous = iterator.previous_epoch_detail
        self._previous_epoch_detail = None if previous is None else float(previous)


class _WeightedObservations:
    """Means of what is reported in several parts of one iteration."""

    def __init__(self) -> None:
        self._summary = DictSummary()
        self._last: dict[str, Any] = {}

    @contextmanager
    def part(self, weight: float) -> Iterator[None]:
        """Collects what is reported within the block, if anybody listens."""
        try:
            reporter = get_current_reporter()
        except IndexError:  # no trainer, no reporter
            yield
            return
        observation: dict[str, Any] = {}
        with reporter.scope(observation):
            yield
        self._summary.add({key: (value, weight) for key, value in observation.items()})
        self._last.update(observation)

    def report(self) -> None:
        """Reports the means, and the last one of what has no mean."""
        means = self._summary.compute_mean()
        report({key: _with_value(last, means.get(key)) for key, last in self._last.items()})


def _with_value(last: Any, mean: Any) -> Any:
    """Returns a mean in the form of the value that was reported last."""
    if mean is None:
        return last
    if not isinstance(last, Variable):
        return mean
    array = last.array
    xp = get_array_module(array)
    with using_device(get_device_from_array(array)):
        mean = xp.asarray(mean, dtype=array.dtype)
    if last.creator is None:
        return Variable(mean, requires_grad=False)
    # An extension wants the graph: it gets the one of the last part, with the value of all.
    return last + (mean - array)
