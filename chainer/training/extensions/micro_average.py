"""Ratios of sums."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import backend_of, is_array
from chainer.core.autograd.variable import Variable
from chainer.links.loaded_state import load_optional, serialize_unsaved
from chainer.links.serializer import Serializer
from chainer.training.extension import PRIORITY_EDITOR, Extension
from chainer.training.trigger import get_trigger

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer
    from chainer.training.trigger import TriggerLike


def _number(value: Any) -> float:
    """Returns a reported value as a Python number; integers stay integers."""
    value = value.array if isinstance(value, Variable) else value
    return backend_of(value).to_host(value).item() if is_array(value) else value


class MicroAverage(Extension):
    r"""Calculates micro-average ratio.

    Given :math:`N` batches and values :math:`\{n_1, \dots, n_N\}` and :math:`\{d_1, \dots, d_N\}`,
    this extension calculates the micro-average of their ratio, defined as

    .. math:: \frac{\sum_i^N n_i}{\sum_i^N d_i}.

    A user usually uses the number of examples which a system correctly predicts as :math:`n_i` and
    the number of total examples in the :math:`i`-th batch as :math:`d_i`. The macro-average,
    :math:`\frac{1}{N}\sum_i^N (n_i / d_i)`, is the same when all :math:`d_i` are.

    Numerator and denominator are values that the model reports. Iterations that lack one of them do
    not count, so that values of an evaluation, which are not reported at every iteration, can be
    averaged as well.

    Args:
        numerator_key (str): Key string of observation storing a numerator value.
        denominator_key (str): Key string of observation storing a denominator value.
        result_key (str): Key string of observation to store a result.
        trigger: Trigger that decides when to calculate the average. This is distinct from the
            trigger of this extension itself. A pair such as ``(1, 'epoch')`` is passed to
            :class:`~chainer.training.triggers.IntervalTrigger`.

    Example:
        >>> from chainer.training import extensions
        >>> class Counts(L.Classifier):
        ...     def forward(self, x, t):
        ...         loss = super().forward(x, t)
        ...         correct = (self.y.array.argmax(axis=1) == t).sum()
        ...         chainer.report({"correct": correct, "total": len(t)}, self)
        ...         return loss
        >>> model = Counts(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (1, "epoch"))
        >>> trainer.extend(extensions.MicroAverage("main/correct", "main/total", "main/micro"))
        >>> trainer.extend(extensions.LogReport())
        >>> trainer.run()
        >>> trainer.get_extension("LogReport").log[0]["main/micro"]
        0.5
    """

    priority = PRIORITY_EDITOR

    def __init__(
        self,
        numerator_key: str,
        denominator_key: str,
        result_key: str,
        trigger: TriggerLike = (1, "epoch"),
    ) -> None:
        self._numerator_key = numerator_key
        self._denominator_key = denominator_key
        self._result_key = result_key
        self._trigger = get_trigger(trigger)
        self._numerator: float = 0
        self._denominator: float = 0
        #: Keys that no iteration had so far; None before the first.
        self._never_found: set[str] | None = None

    def __call__(self, trainer: Trainer) -> None:
        """Adds the values of this iteration and reports the ratio when the interval is over.

        Args:
            trainer (Trainer): Trainer object that calls this operator.

        Raises:
            ZeroDivisionError: If the denominators sum up to zero.
        """
        observation = trainer.observation
        missing = {self._numerator_key, self._denominator_key} - observation.keys()
        self._never_found = missing if self._never_found is None else self._never_found & missing
        if missing:
            return
        self._numerator += _number(observation[self._numerator_key])
        self._denominator += _number(observation[self._denominator_key])
        if self._trigger(trainer):
            result = self._numerator / self._denominator
            self._numerator = 0
            self._denominator = 0
            observation[self._result_key] = result

    def finalize(self) -> None:
        """Warns of keys that were never reported, which may be mistakes in writing."""
        if self._never_found:
            keys = ", ".join(map(repr, sorted(self._never_found)))
            warnings.warn(
                f"MicroAverage never found {keys} in the observation, so that there is no "
                f"{self._result_key!r}",
                stacklevel=2,
            )

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the sums and the trigger.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        # Other releases do not save the state of this trigger.
        serialize_unsaved(self._trigger, serializer["_trigger"])
        if isinstance(serializer, Serializer):
            # As they are: release 7 loads an integer zero only as an integer.
            serializer("_numerator", self._numerator)
            serializer("_denominator", self._denominator)
        else:
            self._numerator = load_optional(serializer, "_numerator", float(self._numerator))
            self._denominator = load_optional(serializer, "_denominator", float(self._denominator))
