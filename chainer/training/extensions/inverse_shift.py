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

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> data = [(np.ones(2, np.float32), np.int32(0))] * 8
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (5, "iteration"))
        >>> shift = extensions.InverseShift("lr", gamma=0.1, power=1)
        >>> trainer.extend(shift, trigger=(1, "iteration"))
        >>> trainer.run()
        >>> print(f"{optimizer.lr:.4f}")
        0.6667
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
