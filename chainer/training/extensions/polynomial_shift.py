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
