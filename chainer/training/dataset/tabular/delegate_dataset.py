"""Datasets that pass requests on to another one."""

from __future__ import annotations

from chainer.training.dataset.tabular.indexing import KeyIndexes, Rows
from chainer.training.dataset.tabular.tabular_dataset import (
    Column,
    Columns,
    Mode,
    TabularDataset,
)


class DelegateDataset(TabularDataset):
    """Base class of datasets that get their data from another tabular dataset.

    A subclass builds a dataset, usually with :func:`~chainer.dataset.tabular.from_data` of its own
    data and methods, and passes it to ``super().__init__``.

    Args:
        dataset (TabularDataset): Source of the data.

    Attributes:
        dataset (TabularDataset): Source of the data.

    .. admonition:: Example

        >>> from chainer.dataset import tabular
        >>> class Words(tabular.DelegateDataset):
        ...     def __init__(self, words):
        ...         self.words = words
        ...         super().__init__(tabular.from_data({'word': words, 'length': self.get_length}))
        ...     def get_length(self, i):
        ...         return len(self.words[i])
        >>> Words(['a', 'tabular', 'dataset'])[1]
        {'word': 'tabular', 'length': 7}
    """

    def __init__(self, dataset: TabularDataset) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self.dataset)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.dataset.keys

    @property
    def mode(self) -> Mode:
        """Form of an example."""
        return self.dataset.mode

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns columns of some rows."""
        return self.dataset.get_examples(indices, key_indices)


class View(DelegateDataset):
    """Base class of the views of a dataset, which convert as the dataset does."""

    # DelegateDataset does not delegate this method: its subclasses are datasets of their own.
    def convert(self, data: Columns) -> Columns:
        """Makes arrays of columns, as the source does."""
        return self.dataset.convert(data)
