"""Decay of an optimizer attribute at given steps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

from chainer.links.loaded_state import load_optional
from chainer.training.extensions._shift import CountedShift

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.optimizers.optimizer import Optimizer


class MultistepShift(CountedShift):
    """Trainer extension to shift an optimizer attribute in several steps.

    The attribute is multiplied by ``gamma`` when the number of calls reaches each entry of
    ``step_value``.

    Args:
        attr (str): Name of the attribute to shift.
        gamma (float): Factor of each step.
        step_value (iterable of int): Numbers of calls at which the steps happen.
        init (float): Initial value of the attribute.
        optimizer (Optimizer): Optimizer with the attribute; by default the main one.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> data = [(np.ones(2, np.float32), np.int32(0))] * 8
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (3, "iteration"))
        >>> shift = extensions.MultistepShift("lr", 0.1, [2, 4], 1.0)
        >>> trainer.extend(shift, trigger=(1, "iteration"))
        >>> trainer.run()
        >>> print(f"{optimizer.lr:.4f}")
        0.1000
    """

    def __init__(
        self,
        attr: str,
        gamma: float,
        step_value: Iterable[int],
        init: float | None,
        optimizer: Optimizer | None = None,
    ) -> None:
        super().__init__(attr, init, optimizer)
        self._gamma = gamma
        self._step_value = sorted(step_value)

    def value_at(self, t: int) -> float:
        """Returns the value after ``t`` calls."""
        return self.first_value() * self._gamma ** bisect_right(self._step_value, t)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the number of calls, and the number of steps, which follows from it.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        super().serialize(serializer)
        load_optional(serializer, "_current_step", bisect_right(self._step_value, self._t))
