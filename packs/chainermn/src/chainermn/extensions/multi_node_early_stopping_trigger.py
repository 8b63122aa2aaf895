"""Early stopping in all processes together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.training.trigger import get_trigger
from chainer.training.triggers import EarlyStoppingTrigger
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.extensions.observation_aggregator import ObservationAggregator

if TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training import Trainer
    from chainer.training.trigger import TriggerLike


class MultiNodeEarlyStoppingTrigger:
    """Stop trigger that looks at the observations of all processes.

    Args:
        comm (CommunicatorBase): Communicator.
        check_trigger: Trigger at which values are compared.
        monitor (str): Name of the observation.
        patience (int): Number of comparisons without improvement after which all processes stop; 3
            by default. ``patients`` is the older name.
        mode (str): ``'max'``, ``'min'`` or ``'auto'``.
        verbose (bool): Whether rank 0 tells what happens.
        max_trigger: Upper bound of the training.
        suffix (str): Added to the name of the observation for the mean of all processes.

    See :class:`~chainer.training.triggers.EarlyStoppingTrigger`.
    """

    def __init__(
        self,
        comm: CommunicatorBase,
        *,
        check_trigger: TriggerLike = (1, "epoch"),
        monitor: str = "main/loss",
        patience: int | None = None,
        mode: str = "auto",
        verbose: bool = False,
        max_trigger: TriggerLike = (100, "epoch"),
        suffix: str = "_aggregated",
        **kwargs: Any,
    ) -> None:
        # A trigger remembers its calls, so each of the two has its own.
        self._aggregator = ObservationAggregator(
            comm, monitor, monitor + suffix, comm_trigger=_again(check_trigger)
        )
        self._trigger = EarlyStoppingTrigger(
            check_trigger=check_trigger,
            monitor=monitor + suffix,
            patience=patience,
            mode=mode,
            verbose=verbose and comm.rank == 0,
            max_trigger=max_trigger,
            **kwargs,
        )

    def __call__(self, trainer: Trainer) -> bool:
        """Returns whether to stop. Collective when values are compared.

        Args:
            trainer (~chainer.training.Trainer): The trainer.
        """
        self._aggregator(trainer)
        return self._trigger(trainer)

    def get_training_length(self) -> tuple[float, str]:
        """Returns period and unit of the upper bound of the training."""
        return self._trigger.get_training_length()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the state of the trigger.

        Args:
            serializer: Serializer or deserializer.
        """
        self._trigger.serialize(serializer)


def _again(trigger: TriggerLike) -> Any:
    import copy

    return copy.deepcopy(get_trigger(trigger))
