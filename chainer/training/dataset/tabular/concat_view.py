"""View that stacks the rows of datasets."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from chainer.training.dataset.tabular.delegate_dataset import View
from chainer.training.dataset.tabular.indexing import (
    KeyIndexes,
    Rows,
    as_slice,
    requested,
)
from chainer.training.dataset.tabular.tabular_dataset import Column, TabularDataset


class ConcatView(View):
    """View of the rows of several datasets.

    Args:
        datasets: Sources with the same keys. The first one decides on mode and converter.

    Raises:
        ValueError: If the keys differ.
    """

    def __init__(self, *datasets: TabularDataset) -> None:
        super().__init__(datasets[0])
        for number, dataset in enumerate(datasets):
            if dataset.keys != self.keys:
                raise ValueError(
                    "all datasets must have the same keys: "
                    f"expected {self.keys}, got {dataset.keys} in dataset {number}"
                )
        self._datasets = datasets
        #: Number of the first row of each dataset, and the number of all rows.
        self._starts = [0, *accumulate(map(len, datasets))]

    def __len__(self) -> int:
        """Returns the number of rows."""
        return self._starts[-1]

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns columns of some rows; lists where rows of several datasets are requested."""
        if isinstance(indices, list):
            return self._get_listed(indices, key_indices)
        parts: list[tuple[Column, ...]] = []
        if indices is None:
            parts = [dataset.get_examples(None, key_indices) for dataset in self._datasets]
            return self._stack(parts, key_indices)
        rows = range(*indices.indices(len(self)))
        # With a negative step the last dataset comes first.
        for number in range(len(self._datasets))[:: 1 if rows.step > 0 else -1]:
            part = self._rows_of(number, rows)
            if part is not None:
                parts.append(self._datasets[number].get_examples(part, key_indices))
        return parts[0] if len(parts) == 1 else self._stack(parts, key_indices)

    def _rows_of(self, number: int, rows: range) -> slice | None:
        """Returns the rows of one dataset that the view contains, or None if it contains none."""
        start, stop = self._starts[number], self._starts[number + 1]
        nearest, farthest = (start, stop - 1) if rows.step > 0 else (stop - 1, start)
        first = max(0, -((rows.start - nearest) // rows.step))
        last = min(len(rows) - 1, (farthest - rows.start) // rows.step)
        if first > last:
            return None
        # The slice ends with the request, or with the dataset if its end comes first.
        end = min(rows.stop, stop) if rows.step > 0 else max(rows.stop, start - 1)
        return as_slice(range(rows[first] - start, end - start, rows.step))

    def _get_listed(self, indexes: list[int], key_indexes: KeyIndexes) -> tuple[Column, ...]:
        owners = [self._owner(index) for index in indexes]
        if len(set(owners)) == 1:
            # The columns of a single dataset need not become lists.
            start = self._starts[owners[0]]
            return self._datasets[owners[0]].get_examples(
                [index - start for index in indexes], key_indexes
            )
        result: tuple[list[object], ...] = tuple(
            [[None] * len(indexes) for _ in requested(key_indexes, len(self.keys))]
        )
        for owner in sorted(set(owners)):
            # One call for each dataset, however the rows of the datasets are mixed.
            places = [place for place, other in enumerate(owners) if other == owner]
            start = self._starts[owner]
            columns = self._datasets[owner].get_examples(
                [indexes[place] - start for place in places], key_indexes
            )
            for target, column in zip(result, columns):
                for place, value in zip(places, column):
                    target[place] = value
        return result

    def _owner(self, index: int) -> int:
        if not 0 <= index < len(self):
            raise IndexError(f"row {index} is out of range for {len(self)} rows")
        return bisect_right(self._starts, index) - 1

    def _stack(
        self, parts: list[tuple[Column, ...]], key_indexes: KeyIndexes
    ) -> tuple[Column, ...]:
        count = sum(1 for _ in requested(key_indexes, len(self.keys)))
        return tuple([[value for part in parts for value in part[k]] for k in range(count)])
