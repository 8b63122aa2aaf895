"""Base of the extensions that change a hyperparameter over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.core.arguments import wrong_type
from chainer.training.extension import Extension

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.optimizers.optimizer import Optimizer
    from chainer.training.trainer import Trainer


class AttributeShift(Extension):
    """Base of extensions that set an optimizer's attribute by the number of their calls.

    A subclass defines :meth:`value_at`. The value is also set before the training begins, the last
    one when the training is resumed: a snapshot does not contain hyperparameters.

    Args:
        attr (str): Name of the attribute.
        init (float): Initial value of the attribute. If it is None, it is taken from the optimizer.
        optimizer (Optimizer): Target optimizer. If it is None, the main optimizer of the updater is
            used.
    """

    def __init__(
        self, attr: str, init: float | None = None, optimizer: Optimizer | None = None
    ) -> None:
        if not isinstance(attr, str):
            raise wrong_type("attr", "the name of an attribute of the optimizer", attr)
        self._attr = attr
        self._init = init
        self._optimizer = optimizer
        self._t = 0
        self._last_value: float | None = None

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls; ``self._init`` is set."""
        raise NotImplementedError(f"{type(self).__name__} must define value_at()")

    def first_value(self) -> float:
        """Returns the value before the first call: the initial one; ``self._init`` is set."""
        assert self._init is not None
        return self._init

    def get_optimizer(self, trainer: Trainer) -> Any:
        """Returns the optimizer whose attribute is set."""
        return self._optimizer or trainer.updater.get_optimizer("main")

    def _set(self, trainer: Trainer, value: float) -> None:
        setattr(self.get_optimizer(trainer), self._attr, value)
        self._last_value = value

    def initialize(self, trainer: Trainer) -> None:
        """Sets the initial value, or the last one if a snapshot was loaded.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.

        Raises:
            AttributeError: If the optimizer has no such attribute, or it cannot be set.
        """
        optimizer = self.get_optimizer(trainer)
        declared = getattr(type(optimizer), self._attr, None)
        if isinstance(declared, property) and declared.fset is None:
            raise AttributeError(
                f"{self._attr!r} of {type(optimizer).__name__} is computed and cannot be set; "
                "shift a hyperparameter, such as 'alpha' of Adam"
            )
        if declared is None and not hasattr(optimizer, self._attr):
            raise AttributeError(
                f"{type(optimizer).__name__} has no attribute {self._attr!r}; "
                f"the optimizer is {optimizer!r}"
            )
        if self._init is None:
            self._init = getattr(optimizer, self._attr)
        value = self.first_value() if self._last_value is None else self._last_value
        self._set(trainer, value)

    def __call__(self, trainer: Trainer) -> None:
        """Sets the next value.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        self._t += 1
        if self._init is None:  # called by a program, without a trainer's initialization
            self._init = getattr(self.get_optimizer(trainer), self._attr)
        self._set(trainer, self.value_at(self._t))

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the number of calls and the last value.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._t = serializer("_t", self._t)
        value = serializer("_last_value", self._last_value)
        self._last_value = None if value is None else float(value)


class ShiftToTarget(AttributeShift):
    """Base of shifts that end at a target value.

    A subclass defines :meth:`shifted`. Values are compared by their ratio to the target, so that a
    negative value shrinks towards a negative target.

    Args:
        attr (str): Name of the attribute.
        init (float): Initial value of the attribute; if None, the optimizer's value.
        target (float): Value that replaces what is past it; None for no limit.
        optimizer (Optimizer): Target optimizer; the main one of the updater if it is None.
        grows (bool): Whether the absolute value of the attribute grows. Otherwise it shrinks.
    """

    def __init__(
        self,
        attr: str,
        init: float | None,
        target: float | None,
        optimizer: Optimizer | None,
        grows: bool,
    ) -> None:
        super().__init__(attr, init, optimizer)
        self._target = target
        self._grows = grows

    def shifted(self, start: float, t: int) -> float:
        """Returns the value after ``t`` calls, the target aside.

        Args:
            start: Initial value.
            t: Number of calls.
        """
        raise NotImplementedError(f"{type(self).__name__} must define shifted()")

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls; ``self._init`` is set."""
        value = self.shifted(self.first_value(), t)
        target = self._target
        if target is None:
            return value
        # value / target > 1 or < 1, multiplied by the square of the target: no division by zero.
        ratio, one = value * target, target * target
        return target if (ratio > one if self._grows else ratio < one) else value


class CountedShift(AttributeShift):
    """Base of shifts whose state is the number of calls only, which release 7 added."""

    def initialize(self, trainer: Trainer) -> None:
        """Sets the value that belongs to the number of calls.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        # The number of calls may come from a snapshot, the value does not.
        self._last_value = None
        super().initialize(trainer)
        if self._t:
            self._set(trainer, self.value_at(self._t))

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the number of calls, which determines the value.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._t = serializer("_t", self._t)
