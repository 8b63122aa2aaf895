"""Ending a training that does not get better, and telling why."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from chainer.core.reporting.summary import to_float
from chainer.training.extension import PRIORITY_EDITOR, Extension
from chainer.training.extensions.accumulator import Accumulator
from chainer.training.extensions.metrics import larger_is_better

if TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class EarlyStop(Extension):
    """Trainer extension that stops a training which no longer gets better, or has diverged.

    There are three reasons: the value watched has not improved for ``patience`` intervals; it is
    beyond ``divergence``; or it, or one of ``finite``, is not finite. The first two are
    decided on means at the end of each interval, the last one at once.

    The reason is in ``trainer.stop_reason``, in the last entry of the log
    (:class:`~chainer.training.extensions.LogReport`,
    :class:`~chainer.training.extensions.CSVLogger`,
    :class:`~chainer.training.extensions.JSONLinesLogger`), and on the standard error stream.

    Args:
        key: Key of the observation to watch.
        patience: Number of intervals without improvement after which the training stops.
        min_delta: How much better than the best so far a value must be to be an improvement, 0 or
            more: a mean of ``best - min_delta`` is none.
        mode: ``'min'`` if smaller values are better, ``'max'`` if larger ones are, or ``'auto'``:
            ``'max'`` for accuracies, scores and the like, going by the last part of the key.
        trigger: When an interval ends; a pair such as ``(1, 'epoch')`` or a trigger.
        divergence: Worst mean that is let pass; None for no limit.
        finite: Keys of more observations that must be finite. Looking at them makes an
            accelerator wait in each iteration.
        verbose: Whether the reason is printed to the standard error stream.

    Attributes:
        best: The best mean so far; None before the first.
        best_iteration: Number of iterations at the end of its interval.
        count: Number of intervals since.

    Raises:
        ValueError: If an argument is out of its range.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (100, "epoch"))
        >>> stop = extensions.EarlyStop("main/accuracy", patience=2, verbose=False)
        >>> trainer.extend(stop)
        >>> trainer.run()
        >>> trainer.updater.epoch < 100
        True
    """

    trigger = (1, "iteration")
    # After the evaluators, before the logs.
    priority = PRIORITY_EDITOR

    def __init__(
        self,
        key: str = "validation/main/loss",
        patience: int = 5,
        min_delta: float = 0.0,
        mode: str = "auto",
        trigger: Any = (1, "epoch"),
        divergence: float | None = None,
        finite: Iterable[str] = ("main/loss",),
        verbose: bool = True,
    ) -> None:
        if patience < 1:
            raise ValueError(f"patience must be 1 or more, got {patience}")
        if not min_delta >= 0:
            raise ValueError(f"min_delta must be 0 or more, got {min_delta}")
        if divergence is not None and math.isnan(divergence):
            raise ValueError("divergence must be a number or None, got nan")
        self.key = key
        self.patience = patience
        self.min_delta = min_delta
        self.divergence = divergence
        self.verbose = verbose
        self.best: float | None = None
        self.best_iteration = 0
        self.count = 0
        self._sign = -1.0 if larger_is_better(mode, key) else 1.0
        self._finite = list(dict.fromkeys((key, *finite)))
        self._averages = Accumulator(trigger, (key,))
        self._warned = False

    def initialize(self, trainer: Trainer) -> None:
        """Stops at once a resumed training that had run out of patience before.

        Args:
            trainer: Trainer that runs the training loop.
        """
        if self.count >= self.patience:
            self._stop(trainer, self._no_improvement())

    def __call__(self, trainer: Trainer) -> None:
        """Looks at the present observation.

        Args:
            trainer: Trainer that calls this operator.
        """
        iteration = trainer.updater.iteration
        for key in self._finite:
            if key in trainer.observation:
                value = to_float(trainer.observation[key])
                if not math.isfinite(value):
                    self._stop(trainer, f"{key} is {value} at iteration {iteration}")
        means = self._averages.add(trainer)
        if means is None:
            return
        if self.key not in means:
            self._warn_of_missing(trainer)
            return
        self._judge(trainer, means[self.key])

    def _judge(self, trainer: Trainer, value: float) -> None:
        iteration = trainer.updater.iteration
        if self.divergence is not None and self._sign * (value - self.divergence) > 0:
            self._stop(
                trainer,
                f"{self.key} {value:g} is beyond the limit {self.divergence:g} at iteration "
                f"{iteration}",
            )
        if not math.isfinite(value):
            return
        if self.best is None or self._sign * (self.best - value) > self.min_delta:
            self.best = value
            self.best_iteration = iteration
            self.count = 0
            return
        self.count += 1
        if self.count >= self.patience:
            self._stop(trainer, self._no_improvement())

    def _no_improvement(self) -> str:
        margin = f" by more than {self.min_delta:g}" if self.min_delta else ""
        times = "interval" if self.count == 1 else f"{self.count} intervals"
        return (
            f"{self.key} has not improved{margin} in the last {times}: "
            f"best {self.best:g} at iteration {self.best_iteration}"
        )

    def _stop(self, trainer: Trainer, reason: str) -> None:
        if trainer.stop_reason is not None:
            return
        trainer.stop(reason)
        if self.verbose:
            print(f"early stop: {reason}", file=sys.stderr, flush=True)

    def _warn_of_missing(self, trainer: Trainer) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.key!r} was not observed: early stop has nothing to look at; the "
                f"observation has {sorted(trainer.observation)}",
                stacklevel=2,
            )

    def serialize(self, serializer: Any) -> None:
        """Serializes the best value, the count and the sums of the interval.

        Args:
            serializer: Serializer or deserializer.
        """
        self._averages.serialize(serializer["averages"])
        best = serializer("best", math.nan if self.best is None else self.best)
        self.best = None if math.isnan(best) else float(best)
        self.best_iteration = int(serializer("best_iteration", self.best_iteration))
        self.count = int(serializer("count", self.count))
