"""Decay of an optimizer attribute at given steps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from chainer.training.extensions._shift import AttributeShift
from chainer.training.trigger import load_optional


class MultistepShift(AttributeShift):
    """Trainer extension to shift an optimizer attribute in several steps.

    The attribute is multiplied by ``gamma`` when the number of calls reaches each entry of
    ``step_value``.

    Args:
        attr (str): Name of the attribute to shift.
        gamma (float): Factor of each step.
        step_value (iterable of int): Numbers of calls at which the steps happen.
        init (float): Initial value of the attribute.
        optimizer (Optimizer): Target optimizer to adjust the attribute. If it is None, the main
            optimizer of the updater is used.
    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        step_value: Iterable[int],
        init: float | None,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        self._gamma = gamma
        self._step_value = sorted(step_value)

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls."""
        start: Any = self._init
        return start * self._gamma ** bisect_right(self._step_value, t)

    def serialize(self, serializer: Any) -> None:
        """Serializes the number of calls, from which all else follows.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._t = serializer("_t", self._t)
        load_optional(serializer, "_current_step", bisect_right(self._step_value, self._t))

    def initialize(self, trainer: Any) -> None:
        """Sets the value that belongs to the number of calls.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        self._last_value = None
        super().initialize(trainer)
        if self._t:
            self._set(trainer, self.value_at(self._t))
