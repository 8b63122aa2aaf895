"""A trainer without a model, for testing extensions."""

from __future__ import annotations

from typing import Any
from unittest import mock


def is_available() -> bool:
    """Returns whether a mock library is there: always, as :mod:`unittest.mock` is used."""
    return True


def check_available() -> None:
    """Does nothing: :mod:`unittest.mock` is always there."""


def get_error() -> None:
    """Returns None: :mod:`unittest.mock` is always there."""


def get_trainer_with_mock_updater(
    stop_trigger: Any = (10, "iteration"),
    iter_per_epoch: int = 10,
    extensions: Any = None,
) -> Any:
    """Returns a :class:`~chainer.training.Trainer` object with a mock updater.

    ``trainer.updater.update()`` calls the mock ``update_core`` and counts ``iteration``, ``epoch``,
    ``epoch_detail``, ``previous_epoch_detail`` and ``is_new_epoch`` as a real updater does.

    Args:
        stop_trigger: Stop trigger of the trainer.
        iter_per_epoch (int): The number of iterations per epoch.
        extensions: Extensions registered to the trainer.

    Returns:
        Trainer: The trainer.

    Example:
        >>> from chainer import testing
        >>> trainer = testing.get_trainer_with_mock_updater(stop_trigger=(3, "iteration"))
        >>> @chainer.training.make_extension(trigger=(1, "iteration"))
        ... def show(trainer):
        ...     print(trainer.updater.iteration)
        >>> trainer.extend(show)
        >>> trainer.run()
        1
        2
        3
    """
    from chainer.training.trainer import Trainer

    updater = mock.Mock()
    updater.get_all_optimizers.return_value = {}
    updater.iteration = 0
    updater.epoch = 0
    updater.epoch_detail = 0.0
    updater.previous_epoch_detail = None
    updater.is_new_epoch = True

    def update() -> None:
        updater.update_core()
        updater.iteration += 1
        updater.epoch = updater.iteration // iter_per_epoch
        updater.epoch_detail = updater.iteration / iter_per_epoch
        updater.is_new_epoch = (updater.iteration - 1) // iter_per_epoch != updater.epoch
        updater.previous_epoch_detail = (updater.iteration - 1) / iter_per_epoch

    updater.update.side_effect = update
    return Trainer(updater, stop_trigger, extensions=extensions)
