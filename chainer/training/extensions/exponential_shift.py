"""Exponential change of an optimizer attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.arguments import wrong_type
from chainer.core.misuse import expect_number, warn_once
from chainer.training.extensions._shift import ShiftToTarget

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import Optimizer


#: Part of the first value from which on a program surely did not mean to shift on.
_VANISHED = 1e-12


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
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.ExponentialShift("lr", 0.5), trigger=(1, "epoch"))
        >>> trainer.run()
        >>> optimizer.lr
        0.025
    """

    def __init__(
        self,
        attr: str,
        rate: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: Optimizer | None = None,
    ) -> None:
        if rate is None or isinstance(rate, str):
            raise wrong_type("rate", "a number; the arguments are attr, rate", rate)
        if rate < 0:
            raise ValueError(f"ExponentialShift does not support negative rate, got {rate}")
        expect_number("rate of ExponentialShift", rate, above=0)
        super().__init__(attr, init, target, optimizer, grows=rate > 1)
        self._rate = rate

    def shifted(self, start: float, t: int) -> float:
        """Returns the value after ``t`` calls, the target aside."""
        value = start * self._rate**t
        # The default trigger is each iteration; rates are mostly meant for epochs.
        if abs(value) < abs(start) * _VANISHED and self._target is None:
            warn_once(
                "shift that vanishes",
                "ExponentialShift",
                f"ExponentialShift has multiplied the value {t} times by {self._rate!r}, and it is "
                "almost 0: is it meant for epochs? trainer.extend(..., trigger=(1, 'epoch'))",
            )
        return value
