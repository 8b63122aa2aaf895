"""View that puts the columns of datasets side by side."""

from __future__ import annotations

from chainer.training.dataset.tabular.delegate_dataset import View
from chainer.training.dataset.tabular.indexing import KeyIndexes, Rows
from chainer.training.dataset.tabular.tabular_dataset import Column, Mode, TabularDataset


class JoinView(View):
    """View of the columns of several datasets.

    Args:
        datasets: Sources of the same length whose keys differ. The first one decides on the
            converter.

    Raises:
        ValueError: If lengths differ, or a key occurs twice.
    """

    def __init__(self, *datasets: TabularDataset) -> None:
        super().__init__(datasets[0])
        for number, dataset in enumerate(datasets):
            if len(dataset) != len(datasets[0]):
                raise ValueError(
                    "all datasets must have the same length: "
                    f"expected {len(datasets[0])}, got {len(dataset)} in dataset {number}"
                )
        self._datasets = datasets
        #: For each column, the dataset that it belongs to and its number there.
        self._places = [
            (number, k) for number, dataset in enumerate(datasets) for k in range(len(dataset.keys))
        ]
        keys = self.keys
        repeated = sorted({key for key in keys if keys.count(key) > 1})
        if repeated:
            raise ValueError(f"datasets must have different keys, got {repeated} more than once")

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple([key for dataset in self._datasets for key in dataset.keys])

    @property
    def mode(self) -> Mode:
        """Form of an example."""
        for dataset in self._datasets:
            mode = dataset.mode
            if mode is not None:
                return mode
        return tuple

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns columns of some rows; reads each dataset at most once."""
        if key_indices is None:
            parts = [dataset.get_examples(indices, None) for dataset in self._datasets]
            return tuple([column for part in parts for column in part])
        wanted = [self._places[k] for k in key_indices]
        # A dictionary keeps the columns of a dataset in the order in which they are requested
        # first, each once.
        by_dataset: dict[int, dict[int, Column]] = {}
        for number, k in wanted:
            by_dataset.setdefault(number, {})[k] = None
        for number in sorted(by_dataset):
            columns = by_dataset[number]
            columns.update(
                zip(columns, self._datasets[number].get_examples(indices, tuple(columns)))
            )
        return tuple([by_dataset[number][k] for number, k in wanted])
