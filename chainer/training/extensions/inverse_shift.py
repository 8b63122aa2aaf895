"""Inverse time decay of an optimizer attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions._shift import ShiftToTarget

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import Optimizer


class InverseShift(ShiftToTarget):
    """Trainer extension to shift an optimizer attribute by inverse time decay.

    The attribute is ``init * (1 + gamma * t) ** -power`` after ``t`` calls.

    Args:
        attr (str): Name of the attribute to shift.
        gamma (float): Parameter used to compute the new value, not negative.
        power (float): Parameter used to compute the new value.
        init (float): Initial value of the attribute. If it is None, it is taken from the optimizer.
        target (float): Target value of the attribute. If the attribute reaches this value, the
            shift stops.
        optimizer (Optimizer): Target optimizer to adjust the attribute. If it is None, the main
            optimizer of the updater is used.

    Raises:
        ValueError: If ``gamma`` is negative.
    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        power: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        if gamma < 0:
            raise ValueError(f"InverseShift does not support negative gamma, got {gamma}")
        super().__init__(attr, init, target, optimizer, grows=power < 0)
        self._gamma = gamma
        self._power = power

    def shifted(self, start: float, t: int) -> float:
        """Returns the value after ``t`` calls, the target aside."""
        return start * (1 + self._gamma * t) ** -self._power
