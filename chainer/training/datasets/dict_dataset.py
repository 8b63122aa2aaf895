"""Dataset of dictionaries."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.typing import DatasetLike, Index
from chainer.training.dataset import batch
from chainer.training.dataset.dataset_mixin import expect_length, expect_positions, index_list
from chainer.training.datasets._columns import Columns


class DictDataset(Columns):
    """Dataset of a dictionary of datasets.

    It combines multiple datasets into one dataset. Each example is represented by a dictionary
    mapping a key to an example of the corresponding dataset.

    Args:
        datasets: Underlying datasets. The keys are used as the keys of each example. All datasets
            must have the same length.

    Raises:
        ValueError: If no datasets are given, or their lengths differ.

    .. admonition:: Example

        >>> from chainer.datasets import DictDataset
        >>> dataset = DictDataset(x=[8, 0, 5], y=[3, 1, 7])
        >>> dataset[2]
        {'x': 5, 'y': 7}
    """

    def __init__(self, **datasets: DatasetLike) -> None:
        if not datasets:
            raise ValueError("no datasets are given")
        length = len(next(iter(datasets.values())))
        for key, dataset in datasets.items():
            expect_length(dataset, length, f'dataset length conflicts at "{key}"')
            expect_positions(dataset, f"dataset {key!r}")
        self._datasets = datasets
        self._length = length

    def __getitem__(self, index: Index) -> Any:
        """Returns an example, a dictionary, or a list of those at several indexes.

        Args:
            index (int, slice, list or numpy.ndarray): An index or indexes.
        """
        # Slices of the datasets may be faster than single examples.
        if isinstance(index, slice):
            columns = [dataset[index] for dataset in self._datasets.values()]
            return [dict(zip(self._datasets, values)) for values in zip(*columns)]
        if isinstance(index, (list, numpy.ndarray)) and numpy.ndim(index) != 0:
            return [self[i] for i in index_list(index, self._length)]
        return {key: dataset[index] for key, dataset in self._datasets.items()}

    def _batch(self, index: batch.Index) -> batch.Batch | None:
        # A subclass may compute something else from the rows.
        if type(self).__getitem__ is not DictDataset.__getitem__:
            return None
        return batch.dict_batch(self._datasets, index)
