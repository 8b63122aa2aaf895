"""Observations of all processes as one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import chainer
from chainer.training.extension import PRIORITY_EDITOR, Extension
from chainer.training.trigger import get_trigger
from chainermn.communicators.communicator_base import CommunicatorBase

if TYPE_CHECKING:
    from chainer.training import Trainer
    from chainer.training.trigger import TriggerLike
    from chainer.typing import ArrayLike


class ObservationAggregator(Extension):
    """Extension that joins the observations of all processes.

    Args:
        comm (CommunicatorBase): Communicator.
        original_key (str): Name of the observation.
        aggregated_key (str): Name of the result; the same name by default.
        comm_trigger: Trigger at which values are exchanged. Between, they are collected.
        aggregator (callable): Makes the result from a list of lists: for each rank, the values that
            it has collected. The mean of all values by default.
    """

    trigger = (1, "iteration")
    priority = PRIORITY_EDITOR
    name: str | None = None

    def __init__(
        self,
        comm: CommunicatorBase,
        original_key: str,
        aggregated_key: str | None = None,
        *,
        comm_trigger: TriggerLike = (1, "iteration"),
        aggregator: Callable[[list[list[Any]]], Any] | None = None,
    ) -> None:
        self.comm = comm
        self.original_key = original_key
        self.aggregated_key = original_key if aggregated_key is None else aggregated_key
        self.comm_trigger = get_trigger(comm_trigger)
        self.aggregator = _mean_of_all if aggregator is None else aggregator
        self._values: list[Any] = []

    def __call__(self, trainer: Trainer) -> None:
        """Collects the observation, and exchanges it when the trigger says so.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
        """
        if self.original_key in trainer.observation:
            self._values.append(_to_host(trainer.observation[self.original_key]))
        if not self.comm_trigger(trainer):
            return
        gathered = self.comm.gather_obj(self._values)
        self._values = []
        # The aggregator runs at rank 0 only, so that all processes see one value, whatever it does.
        result = self.comm.bcast_obj(None if gathered is None else self.aggregator(gathered))
        trainer.observation[self.aggregated_key] = result


def _to_host(value: ArrayLike) -> Any:
    value = getattr(value, "array", value)
    if hasattr(value, "dtype"):
        value = chainer.get_device("@numpy").send(value)
    return value


def _mean_of_all(values: list[list[Any]]) -> Any:
    joined = [value for each in values for value in each]
    if not joined:
        raise ValueError("ObservationAggregator: no process has observed a value")
    return sum(joined) / len(joined)
