"""Datasets for processes whose model gets its input from another process."""

from __future__ import annotations

from typing import Any


def create_empty_dataset(dataset: Any) -> list[tuple[()]]:
    """Returns a dataset of the same length whose examples are empty.

    A process whose model receives its input from another process iterates over it: the model is
    called without arguments, as often as the model of the other process.

    Args:
        dataset: Dataset of the process that has the data.

    Returns:
        list: ``len(dataset)`` empty tuples.
    """
    return [()] * len(dataset)
