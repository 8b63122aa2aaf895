"""Polynomial decay of an optimizer attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions._shift import ShiftToTarget

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import Optimizer


class PolynomialShift(ShiftToTarget):
    """Trainer extension to polynomially shift an optimizer attribute.

    The attribute is ``init * (1 - t / max_count) ** rate`` after ``t`` calls, and zero after
    ``max_count``.

    Args:
        attr (str): Name of the attribute to shift.
        rate (float): Exponent of the polynomial.
        max_count (int): Number of calls after which the value is zero.
        init (float): Initial value of the attribute. If it is None, it is taken from the optimizer.
        target (float): Target value of the attribute. If the attribute reaches this value, the
            shift stops.
        optimizer (Optimizer): Target optimizer to adjust the attribute. If it is None, the main
            optimizer of the updater is used.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> data = [(np.ones(2, np.float32), np.int32(0))] * 8
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (5, "iteration"))
        >>> shift = extensions.PolynomialShift("lr", rate=2, max_count=10)
        >>> trainer.extend(shift, trigger=(1, "iteration"))
        >>> trainer.run()
        >>> print(f"{optimizer.lr:.4f}")
        0.2500
    """

    #: Release 7 has this attribute, which has no effect.
    invoke_before_training = True

    def __init__(
        self,
        attr: str,
        rate: float,
        max_count: int,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        # (1 - t / max_count) is at most 1: a negative exponent makes the value grow.
        super().__init__(attr, init, target, optimizer, grows=rate <= 0)
        self._rate = rate
        self._max_count = max_count

    def shifted(self, start: float, t: int) -> float:
        """Returns the value after ``t`` calls, the target aside."""
        return start * max(1 - t / self._max_count, 0) ** self._rate
