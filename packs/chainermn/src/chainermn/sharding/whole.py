"""Whole models for what is not made for sharded ones, such as snapshots."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def sharded_optimizers(trainer: Any) -> list[Any]:
    """Returns the optimizers of a trainer whose models are sharded.

    Args:
        trainer: Trainer, or another object that is saved.
    """
    updater = getattr(trainer, "updater", None)
    optimizers = [] if updater is None else updater.get_all_optimizers().values()
    return [each for each in optimizers if getattr(each, "is_sharded", False)]


@contextlib.contextmanager
def whole_models(trainer: Any, states: bool = False) -> Iterator[None]:
    """Sharded models of a trainer are whole within this ``with`` statement. Collective.

    Args:
        trainer: Trainer, or another object that is saved.
        states: Whether all processes have the states of all optimizers, too, or load them. At the
            end each process keeps its own.
    """
    with contextlib.ExitStack() as stack:
        optimizers = sharded_optimizers(trainer)
        for optimizer in optimizers:
            stack.enter_context(optimizer.gathered())
            if states:
                optimizer.consolidate_states(None)
        try:
            yield
        finally:
            if states:
                for optimizer in optimizers:
                    optimizer.drop_other_states()
