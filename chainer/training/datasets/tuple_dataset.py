"""Dataset of tuples."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.typing import DatasetLike, Index
from chainer.training.dataset import batch
from chainer.training.dataset.dataset_mixin import expect_length, expect_positions, index_list
from chainer.training.datasets._columns import Columns


class TupleDataset(Columns):
    """Dataset of tuples from multiple equal-length datasets.

    A ``TupleDataset`` combines multiple equal-length datasets into a single dataset of tuples. The
    ``i``-th tuple contains the ``i``-th example from each of the argument datasets, in the same
    order that they were supplied.

    Recall that in Chainer, a dataset is defined as an iterable that supports both ``__getitem__``
    and ``__len__``. The ``__getitem__`` method should support indexing by both an integer and a
    slice.

    As an example, consider creating a ``TupleDataset`` from two argument datasets ``d1 = [8, 0, 5,
    1]`` and ``d2 = [3, 1, 7, 4]`` as ``tuple_dataset = TupleDataset(d1, d2)``. The
    ``tuple_dataset`` will then contain the examples ``(8, 3), (0, 1), (5, 7), (1, 4)``. Note that
    the built-in :func:`zip` function behaves similarly.

    Args:
        datasets: Underlying datasets that will be aggregated. Each dataset must be an iterable that
            implements ``__getitem__`` and ``__len__``. The ``j``-th dataset will be used for the
            ``j``-th item of each example tuple. All datasets must have the same length.

    Raises:
        ValueError: If no datasets are given, or their lengths differ.

    .. admonition:: Example

        >>> from chainer.datasets import TupleDataset
        >>> dataset = TupleDataset([8, 0, 5, 1], [3, 1, 7, 4])
        >>> dataset[2]
        (5, 7)
        >>> dataset[:2]
        [(8, 3), (0, 1)]
    """

    def __init__(self, *datasets: DatasetLike) -> None:
        if not datasets:
            raise ValueError("no datasets are given")
        length = len(datasets[0])
        for i, dataset in enumerate(datasets):
            expect_length(dataset, length, f"dataset of the index {i} has a wrong length")
            expect_positions(dataset, f"dataset of the index {i}")
        self._datasets = datasets
        self._length = length

    def __getitem__(self, index: Index) -> Any:
        """Returns an example, or a list of examples.

        Args:
            index (int, slice, list or numpy.ndarray): An index of an example or indexes of
                examples.

        Returns:
            tuple or list of tuples: The example(s).
        """
        # Slices of the datasets may be faster than single examples.
        if isinstance(index, slice):
            return list(zip(*(dataset[index] for dataset in self._datasets)))
        if isinstance(index, (list, numpy.ndarray)) and numpy.ndim(index) != 0:
            indexes = index_list(index, self._length)
            return [tuple([dataset[i] for dataset in self._datasets]) for i in indexes]
        return tuple([dataset[index] for dataset in self._datasets])

    def _batch(self, index: batch.Index) -> batch.Batch | None:
        # A subclass may compute something else from the rows.
        if type(self).__getitem__ is not TupleDataset.__getitem__:
            return None
        return batch.tuple_batch(self._datasets, index)
