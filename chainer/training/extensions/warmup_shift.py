"""Gradual warm-up of an optimizer attribute."""

from __future__ import annotations

from typing import Any

from chainer.training.extensions._shift import AttributeShift


class WarmupShift(AttributeShift):
    """Trainer extension to gradually warm up an optimizer attribute.

    The attribute goes linearly from ``warmup_start`` to ``init`` during the first ``warmup_iter``
    calls, and stays there. See: `Accurate, Large Minibatch SGD
    <https://arxiv.org/abs/1706.02677>`_.

    Args:
        attr (str): Name of the optimizer attribute to adjust.
        warmup_start (float): Value of the attribute at the beginning.
        warmup_iter (int): Number of calls until ``init`` is reached.
        init (float): Value of the attribute after the warm-up.
        optimizer (Optimizer): Target optimizer object. If it is None, the main optimizer of the
            trainer is used.
    """

    def __init__(
        self,
        attr: str,
        warmup_start: float,
        warmup_iter: int,
        init: float,
        optimizer: Any = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        self._warmup_start = warmup_start
        self._warmup_iter = warmup_iter

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls."""
        end: Any = self._init
        if t >= self._warmup_iter:
            return end
        return self._warmup_start + (end - self._warmup_start) * t / self._warmup_iter

    def serialize(self, serializer: Any) -> None:
        """Serializes the number of calls, from which all else follows.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._t = serializer("_t", self._t)

    def initialize(self, trainer: Any) -> None:
        """Sets the value that belongs to the number of calls.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        self._last_value = None
        super().initialize(trainer)
        if self._t:
            self._set(trainer, self.value_at(self._t))
