"""What the extensions that change a hyperparameter over time share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.training.extension import Extension

if TYPE_CHECKING:
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

    def __init__(self, attr: str, init: float | None = None, optimizer: Any = None) -> None:
        self._attr = attr
        self._init = init
        self._optimizer = optimizer
        self._t = 0
        self._last_value: float | None = None

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls; ``self._init`` is set."""
        raise NotImplementedError(f"{type(self).__name__} must define value_at()")

    def _get_optimizer(self, trainer: Trainer) -> Any:
        return self._optimizer or trainer.updater.get_optimizer("main")

    def _set(self, trainer: Trainer, value: float) -> None:
        setattr(self._get_optimizer(trainer), self._attr, value)
        self._last_value = value

    def initialize(self, trainer: Trainer) -> None:
        """Sets the initial value, or the last one if a snapshot was loaded.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.

        Raises:
            AttributeError: If the optimizer has no such attribute, or it cannot be set.
        """
        optimizer = self._get_optimizer(trainer)
        declared = getattr(type(optimizer), self._attr, None)
        if isinstance(declared, property) and declared.fset is None:
            raise AttributeError(
                f"{self._attr!r} of {type(optimizer).__name__} is computed and cannot be set; "
                "shift a hyperparameter, such as 'alpha' of Adam"
            )
        if declared is None and not hasattr(optimizer, self._attr):
            raise AttributeError(f"{type(optimizer).__name__} has no attribute {self._attr!r}")
        if self._init is None:
            self._init = getattr(optimizer, self._attr)
        self._set(trainer, self._last_value if self._last_value is not None else self.value_at(0))

    def __call__(self, trainer: Trainer) -> None:
        """Sets the next value.

        Args:
            trainer (Trainer): Trainer object that calls this operator.
        """
        self._t += 1
        if self._init is None:  # called by hand, without a trainer's initialization
            self._init = getattr(self._get_optimizer(trainer), self._attr)
        self._set(trainer, self.value_at(self._t))

    def serialize(self, serializer: Any) -> None:
        """Serializes the number of calls and the last value.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._t = serializer("_t", self._t)
        value = serializer("_last_value", self._last_value)
        self._last_value = None if value is None else float(value)


def bounded(value: float, start: float, target: float | None) -> float:
    """Returns the value, or the target once the value, coming from the start, is past it."""
    if target is None:
        return value
    return min(value, target) if target > start else max(value, target)
