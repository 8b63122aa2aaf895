"""Views that select rows and columns."""

from __future__ import annotations

from typing import Any

from chainer.training.dataset.tabular.delegate_dataset import View
from chainer.training.dataset.tabular.indexing import (
    KeyIndexes,
    KeysLike,
    Rows,
    RowsLike,
    compose_keys,
    compose_rows,
    count_rows,
    normalize_keys,
    normalize_rows,
)
from chainer.training.dataset.tabular.tabular_dataset import Column, Mode, TabularDataset


class SliceHelper:
    """Value of ``dataset.slice``: its subscription makes a view.

    Args:
        dataset: Source.
    """

    def __init__(self, dataset: TabularDataset) -> None:
        self._dataset = dataset

    def __getitem__(self, index: Any) -> TabularDataset:
        """Returns a view of the selected rows and columns.

        Args:
            index: Rows, or a tuple of rows and columns, see :attr:`TabularDataset.slice`.

        Raises:
            IndexError: If a row or column is out of range.
            KeyError: If there is no column of that name.
            TypeError: If rows are neither a slice nor a sequence.
            ValueError: If a mask has the wrong length, or the tuple does not have two elements.
        """
        if not isinstance(index, tuple):
            return SliceView(self._dataset, index, None)
        if len(index) != 2:
            raise ValueError(f"expected [rows] or [rows, columns], got {len(index)} indexes")
        return SliceView(self._dataset, *index)


class SliceView(View):
    """View of some rows and columns.

    Args:
        dataset: Source.
        rows: Rows to show, see :attr:`TabularDataset.slice`.
        columns: Columns to show; all if None.
    """

    def __init__(self, dataset: TabularDataset, rows: RowsLike, columns: KeysLike | None) -> None:
        super().__init__(dataset)
        self._rows: Rows = normalize_rows(rows, len(dataset))
        self._key_indexes: KeyIndexes = None
        self._has_bare_values = False
        if columns is not None:
            self._key_indexes, self._has_bare_values = normalize_keys(columns, dataset.keys)

    def __len__(self) -> int:
        """Returns the number of rows."""
        return count_rows(self._rows, len(self.dataset))

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        keys = self.dataset.keys
        if self._key_indexes is None:
            return keys
        return tuple([keys[i] for i in self._key_indexes])

    @property
    def mode(self) -> Mode:
        """Form of an example."""
        if self._has_bare_values:
            return None
        if self._key_indexes is None:
            return self.dataset.mode
        # A tuple of columns was asked for, so that there may be other than one.
        return self.dataset.mode or tuple

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns columns of some rows."""
        return self.dataset.get_examples(
            # The source gets numbers of its own, never names or negative numbers.
            compose_rows(self._rows, indices, len(self.dataset)),
            compose_keys(self._key_indexes, key_indices),
        )
