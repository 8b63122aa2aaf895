"""Dataset of the examples of other datasets."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

from chainer.core.typing import DatasetLike
from chainer.training.dataset.dataset_mixin import DatasetMixin


class ConcatenatedDataset(DatasetMixin):
    """Dataset which concatenates some base datasets.

    This dataset wraps some base datasets and works as a concatenated dataset. For example, if a
    base dataset with 10 samples and another base dataset with 20 samples are given, this dataset
    works as a dataset which has 30 samples.

    Args:
        datasets: The underlying datasets. Each dataset has to support ``__len__()`` and
            ``__getitem__()``.

    .. admonition:: Example

        >>> from chainer.datasets import ConcatenatedDataset
        >>> dataset = ConcatenatedDataset([1, 2], [3])
        >>> len(dataset), dataset[2], dataset[1:]
        (3, 3, [2, 3])
    """

    def __init__(self, *datasets: DatasetLike) -> None:
        self._datasets = datasets
        self._ends = list(accumulate(len(dataset) for dataset in datasets))

    def __len__(self) -> int:
        """Returns the number of data points."""
        return self._ends[-1] if self._ends else 0

    def get_example(self, i: int) -> Any:
        """Returns the i-th example.

        Args:
            i (int): The index of the example; a negative one counts from the end.

        Returns:
            The i-th example.

        Raises:
            IndexError: If the index is out of range.
        """
        index = i + len(self) if i < 0 else i
        if not 0 <= index < len(self):
            raise IndexError(f"dataset index {i} is out of range for {len(self)} examples")
        # The first dataset that ends after the index. Empty ones are passed over.
        which = bisect_right(self._ends, index)
        start = self._ends[which - 1] if which else 0
        return self._datasets[which][index - start]
