"""Gradual warm-up of an optimizer attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.misuse import expect_number
from chainer.training.extensions._shift import CountedShift

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import Optimizer
    from chainer.training.trainer import Trainer


class WarmupShift(CountedShift):
    """Trainer extension to gradually warm up an optimizer attribute.

    The attribute goes linearly from ``warmup_start`` to ``init`` during the first ``warmup_iter``
    calls. Later calls do not change it, so that another extension can. See: `Accurate, Large
    Minibatch SGD <https://arxiv.org/abs/1706.02677>`_.

    Args:
        attr (str): Name of the optimizer attribute to adjust.
        warmup_start (float): Value of the attribute at the beginning. If it is None, it is taken
            from the optimizer.
        warmup_iter (int): Number of calls until ``init`` is reached.
        init (float): Value of the attribute after the warm-up.
        optimizer (Optimizer): Target optimizer object. If it is None, the main optimizer of the
            trainer is used.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> data = [(np.ones(2, np.float32), np.int32(0))] * 8
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (5, "iteration"))
        >>> shift = extensions.WarmupShift("lr", 0.1, 10, 1.0)
        >>> trainer.extend(shift, trigger=(1, "iteration"))
        >>> trainer.run()
        >>> print(f"{optimizer.lr:.4f}")
        0.5500
    """

    def __init__(
        self,
        attr: str,
        warmup_start: float | None,
        warmup_iter: int,
        init: float,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, warmup_start, optimizer)
        expect_number("warmup_iter of WarmupShift", warmup_iter, at_least=1)
        self._warmup_iter = warmup_iter
        self._end = init

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls, at most as many as the warm-up has."""
        if t >= self._warmup_iter:
            return self._end
        start = self.first_value()
        return start + (self._end - start) * t / self._warmup_iter

    def initialize(self, trainer: Trainer) -> None:
        """Sets the value that belongs to the number of calls.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        # After the warm-up, the value is set only where the optimizer is a new one: in a training
        # that is resumed from a snapshot, which does not contain it.
        if self._t <= self._warmup_iter or self._last_value is None:
            super().initialize(trainer)

    def __call__(self, trainer: Trainer) -> None:
        """Sets the next value, unless the warm-up is over.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        if self._t < self._warmup_iter:
            super().__call__(trainer)
        else:
            self._t += 1
