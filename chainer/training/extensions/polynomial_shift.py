"""Polynomial decay of an optimizer attribute."""

from __future__ import annotations

from typing import Any

from chainer.training.extensions._shift import AttributeShift, bounded


class PolynomialShift(AttributeShift):
    """Trainer extension to polynomially shift an optimizer attribute.

    The attribute is ``init * (1 - t / max_count) ** rate`` after ``t`` calls, and zero after
    ``max_count``.

    Args:
        attr (str): Name of the attribute to shift.
        rate (float): Exponent of polynomial shift.
        max_count (int): Number of this extension to be invoked.
        init (float): Initial value of the attribute. If it is None, it is taken from the optimizer.
        target (float): Target value of the attribute. If the attribute reaches this value, the
            shift stops.
        optimizer (Optimizer): Target optimizer to adjust the attribute. If it is None, the main
            optimizer of the updater is used.
    """

    def __init__(
        self,
        attr: str,
        rate: float,
        max_count: int,
        init: float | None = None,
        target: float | None = None,
        optimizer: Any = None,
    ) -> None:
        if rate < 0:
            raise ValueError(f"PolynomialShift does not support negative rate, got {rate}")
        super().__init__(attr, init, optimizer)
        self._rate = rate
        self._max_count = max_count
        self._target = target

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls."""
        start: Any = self._init
        value = start * max(1 - t / self._max_count, 0) ** self._rate
        return bounded(value, start, self._target)
