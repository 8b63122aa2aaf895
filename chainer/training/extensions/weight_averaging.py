"""Stochastic weight averaging."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from chainer.core.arguments import wrong_type
from chainer.core.arrays.backend import get_device
from chainer.core.arrays.device_resident import device_of
from chainer.core.autograd.function import no_backprop_mode
from chainer.core.config.configuration import using_config
from chainer.links.link import Link
from chainer.links.normalization.batch_normalization import BatchNormalization
from chainer.training.dataset.convert import concat_examples
from chainer.training.extensions.moving_average import ExponentialMovingAverage
from chainer.training.updaters.standard_updater import call_with_batch

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class StochasticWeightAveraging(ExponentialMovingAverage):
    """Trainer extension that averages the parameters of a link over the last epochs, equally.

    Register it with the interval at which parameters join the average, once an epoch by default.
    Use a high constant or a cyclic learning rate meanwhile. Afterwards :meth:`copy_to` or
    :meth:`applied` gives a link the average, and :func:`recompute_statistics` the statistics of
    batch normalization that belong to it. See: `Averaging Weights Leads to Wider Optima and Better
    Generalization <https://arxiv.org/abs/1803.05407>`_.

    Args:
        target: Link whose parameters are averaged.
        start: Number of epochs before the averaging begins.

    Raises:
        TypeError: If ``target`` is not a link.
        ValueError: If ``start`` is negative.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (4, "epoch"))
        >>> average = extensions.StochasticWeightAveraging(model, start=2)
        >>> trainer.extend(average)
        >>> trainer.run()
        >>> last = model.predictor.W.array.copy()
        >>> with average.applied():
        ...     print((model.predictor.W.array != last).any())
        ...
        True
    """

    trigger = (1, "epoch")

    def __init__(self, target: Link, start: float = 0) -> None:
        super().__init__(target, decay=0.0)
        if start < 0:
            raise ValueError(f"start must not be negative, got {start}")
        self._start = start

    def _present_decay(self) -> float:
        return 1 - 1 / self.n_updates

    def __call__(self, trainer: Trainer | None = None) -> None:
        """Adds the present parameters to the average.

        Args:
            trainer: Trainer that calls this operator; not needed by those who call it by hand.
        """
        if trainer is None or trainer.updater.epoch_detail > self._start:
            super().__call__(trainer)


def recompute_statistics(
    model: Link,
    batches: Iterable[Any],
    converter: Callable[..., Any] = concat_examples,
    device: Any = None,
) -> int:
    """Computes the statistics of batch normalization in a model anew.

    Averaged parameters have other activations than those that the statistics were collected from.
    The model is called with each batch, in training mode and without a graph; the statistics
    become equal averages over the batches.

    Args:
        model: The model, which is called with the arrays of a batch.
        batches: Lists of examples: an iterator with ``repeat=False``.
        converter: Function that makes input arrays of a batch.
        device: Device to which the batches are sent; the model's by default.

    Returns:
        Number of batches.

    Raises:
        TypeError: If ``model`` is not a link, or ``batches`` is not iterable.
        ValueError: If there are no batches.

    Example:
        >>> from chainer.training import extensions
        >>> model = chainer.Sequential(L.Linear(2, 3), L.BatchNormalization(3))
        >>> batches = [np.full((4, 2), i, np.float32) for i in range(3)]
        >>> extensions.recompute_statistics(model, batches)
        3
    """
    if not isinstance(model, Link):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("model", "a link", model)
    if not isinstance(batches, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("batches", "an iterable of batches", batches)
    layers = [link for link in model.links() if isinstance(link, BatchNormalization)]
    decays = [link.decay for link in layers]
    device = device_of(model) if device is None else get_device(device)
    count = 0
    try:
        for link in layers:
            for average in (link.avg_mean, link.avg_var):
                if average is not None:  # else the first batch tells the size
                    average[...] = 0
        for batch in batches:
            inputs = converter(batch, device)
            for link in layers:  # the average of all batches so far
                link.decay = count / (count + 1)
            count += 1
            with using_config("train", True), no_backprop_mode():
                call_with_batch(model, inputs)
    finally:
        for link, decay in zip(layers, decays, strict=True):
            link.decay = decay
    if count == 0:
        raise ValueError("batches must contain one batch or more")
    return count
