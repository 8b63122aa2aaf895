"""Exponential change of an optimizer attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.training.extensions._shift import ShiftToTarget

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import Optimizer


class ExponentialShift(ShiftToTarget):
    """Trainer extension to exponentially shift an optimizer attribute.

    The attribute is ``init * rate ** t`` after ``t`` calls. The typical use case is an exponential
    decay of the learning rate.

    The initial value (or, after a resume, the last one) is also set before the training loop
    starts.

    Args:
        attr (str): Name of the attribute to shift.
        rate (float): Rate of the exponential shift, positive. This value is multiplied to the
            attribute at each call.
        init (float): Initial value of the attribute. If it is None, the extension extracts the
            attribute at the first call and uses it as the initial value.
        target (float): Target value of the attribute. If the attribute reaches this value, the
            shift stops there.
        optimizer (Optimizer): Target optimizer to adjust the attribute. If it is None, the main
            optimizer of the updater is used.

    Raises:
        ValueError: If the rate is negative.

    Example:
        >>> shift = chainer.training.extensions.ExponentialShift('lr', 0.5)
    """

    def __init__(
        self,
        attr: str,
        rate: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        if rate < 0:
            raise ValueError(f"ExponentialShift does not support negative rate, got {rate}")
        super().__init__(attr, init, target, optimizer, grows=rate > 1)
        self._rate = rate

    def shifted(self, start: float, t: int) -> float:
        """Returns the value after ``t`` calls, the target aside."""
        return start * self._rate**t
