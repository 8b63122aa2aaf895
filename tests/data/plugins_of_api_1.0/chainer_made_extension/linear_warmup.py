"""Warm-up of a learning rate (Goyal et al., 2017, https://arxiv.org/abs/1706.02677)."""

from __future__ import annotations

from typing import Any

from chainer.training import Extension


class LinearWarmup(Extension):
    """Lets an attribute of the optimizer grow linearly to the value it was given.

    At iteration ``i`` (counted from 0) the attribute is ``value * (i + 1) / iterations``, and
    ``value`` from iteration ``iterations - 1`` on, where the extension leaves it to others.

    Args:
        attr: Name of the attribute, such as ``'lr'``.
        iterations: Length of the warm-up, at least 1.
        value: Value at its end; that of the optimizer when training begins by default.
        optimizer: Name of the optimizer in the updater.

    Raises:
        ValueError: If ``iterations`` is less than 1.
    """

    # Called after each iteration, and before extensions that only read. `extend()` may say otherwise.
    trigger = 1, "iteration"
    priority = 200

    def __init__(
        self, attr: str, iterations: int, value: float | None = None, optimizer: str = "main"
    ) -> None:
        if iterations < 1:
            raise ValueError(f"iterations must be 1 or more, got {iterations}")
        self.attr = attr
        self.iterations = iterations
        self.value = value
        self._optimizer = optimizer
        self._calls = 0

    def initialize(self, trainer: Any) -> None:
        """Called before the first iteration, also of a training that was resumed."""
        if self.value is None:
            self.value = float(getattr(self._target(trainer), self.attr))
        self._set(trainer)

    def __call__(self, trainer: Any) -> None:
        """Called after each iteration."""
        self._calls += 1
        self._set(trainer)

    def serialize(self, serializer: Any) -> None:
        """Saves or loads the state: what a resumed training must know."""
        self._calls = int(serializer("calls", self._calls))
        self.value = serializer("value", self.value)

    def _target(self, trainer: Any) -> Any:
        return trainer.updater.get_optimizer(self._optimizer)

    def _set(self, trainer: Any) -> None:
        if self._calls < self.iterations and self.value is not None:
            value = self.value * (self._calls + 1) / self.iterations
            setattr(self._target(trainer), self.attr, value)
