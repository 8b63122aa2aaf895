"""A trainer without a model, for testing extensions."""

from __future__ import annotations

from typing import Any
from unittest import mock


def get_trainer_with_mock_updater(
    stop_trigger: Any = (10, "iteration"),
    iter_per_epoch: int = 10,
    extensions: Any = None,
) -> Any:
    """Returns a :class:`~chainer.training.Trainer` object with a mock updater.

    ``trainer.updater`` counts ``iteration``, ``epoch``, ``epoch_detail``, ``previous_epoch_detail``
    and ``is_new_epoch`` as a real one would do, and updates nothing.

    Args:
        stop_trigger: Stop trigger of the trainer.
        iter_per_epoch (int): The number of iterations per epoch.
        extensions: Extensions registered to the trainer.

    Returns:
        Trainer: The trainer.
    """
    from chainer.training.trainer import Trainer

    updater = mock.Mock()
    updater.get_all_optimizers.return_value = {}
    updater.iteration = 0
    updater.epoch = 0
    updater.epoch_detail = 0.0
    updater.previous_epoch_detail = -1.0
    updater.is_new_epoch = True

    def update() -> None:
        updater.iteration += 1
        updater.previous_epoch_detail = updater.epoch_detail
        updater.epoch_detail = updater.iteration / iter_per_epoch
        updater.epoch = updater.iteration // iter_per_epoch
        updater.is_new_epoch = updater.iteration % iter_per_epoch == 0

    updater.update.side_effect = update
    return Trainer(updater, stop_trigger, extensions=extensions)
