"""Stepwise decay of an optimizer attribute."""

from __future__ import annotations

from typing import Any

from chainer.training.extensions._shift import AttributeShift, bounded


class StepShift(AttributeShift):
    """Trainer extension to shift an optimizer attribute in steps.

    The attribute is ``init * gamma ** floor(t / step)`` after ``t`` calls.

    Args:
        attr (str): Name of the attribute to shift.
        gamma (float): Factor of each step.
        step (int): Number of calls between two steps.
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
        step: int,
        init: float | None = None,
        target: float | None = None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        self._gamma = gamma
        self._step = step
        self._target = target

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls."""
        start: Any = self._init
        return bounded(start * self._gamma ** (t // self._step), start, self._target)
