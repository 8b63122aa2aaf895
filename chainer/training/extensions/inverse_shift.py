"""Inverse time decay of an optimizer attribute."""

from __future__ import annotations

from typing import Any

from chainer.training.extensions._shift import AttributeShift, bounded


class InverseShift(AttributeShift):
    """Trainer extension to shift an optimizer attribute by inverse time decay.

    The attribute is ``init * (1 + gamma * t) ** -power`` after ``t`` calls.

    Args:
        attr (str): Name of the attribute to shift.
        gamma (float): Parameter used to compute the new value.
        power (float): Parameter used to compute the new value.
        init (float): Initial value of the attribute. If it is None, it is taken from the optimizer.
        target (float): Target value of the attribute. If the attribute reaches this value, the
            shift stops.
        optimizer (Optimizer): Target optimizer to adjust the attribute. If it is None, the main
            optimizer of the updater is used.
    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        power: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        self._gamma = gamma
        self._power = power
        self._target = target

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls."""
        start: Any = self._init
        return bounded(start * (1 + self._gamma * t) ** -self._power, start, self._target)
