"""Tabular datasets of lists, arrays and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from chainer.core.arrays import backend
from chainer.core.utils._callable_module import make_callable
from chainer.training.dataset.tabular.indexing import (
    KeyIndexes,
    Rows,
    range_of,
    requested,
    take,
)
from chainer.training.dataset.tabular.simple_views import ModeView
from chainer.training.dataset.tabular.tabular_dataset import Column, Mode, TabularDataset

DataLike: TypeAlias = Any
"""A list, an array, a function with a key, or a tuple or dictionary of these."""


class ColumnDataset(TabularDataset):
    """A list or an array as the only column.

    Args:
        data: List or array.
        key: Name of the column; a unique one if None.
    """

    def __init__(self, data: Column, key: str | None = None) -> None:
        self._data = data
        # The identity is unique among the datasets that exist, and the name is never needed.
        self._keys = (f"_{id(self)}" if key is None else key,)

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._data)

    @property
    def keys(self) -> tuple[str, ...]:
        """Name of the column."""
        return self._keys

    @property
    def mode(self) -> Mode:
        """Form of an example: a bare value."""
        return None

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns the column, as often as it is requested."""
        # Taken once, even if the column is requested several times.
        column = take(self._data, indices)
        return tuple([column for _ in requested(key_indices, 1)])


class _RowNumbers(TabularDataset):
    """Numbers of rows as the only column: the source of datasets that call a function."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    @property
    def keys(self) -> tuple[str, ...]:
        return ("row",)

    @property
    def mode(self) -> Mode:
        return None

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        column = list(range_of(indices, self._size))
        return tuple([column for _ in requested(key_indices, 1)])


def from_data(data: DataLike, *, size: int | None = None) -> TabularDataset:
    """Makes a tabular dataset of lists, arrays and functions.

    ========================================  ====================================================
    ``data``                                  dataset
    ========================================  ====================================================
    list or array                             one column, bare values
    ``(key, list, array or function)``        one column of that name, bare values
    ``((key, key, ...), function)``           the columns that the function returns
    tuple of the above                        all columns, tuples
    ``{key: list, array or function}``        all columns, dictionaries
    ========================================  ====================================================

    A key of the dictionary may be a tuple of names, for a function of several columns.

    Args:
        data: Data, see the table. A function takes the number of a row (int) and returns the
            value; a function of several columns returns a tuple or a dictionary. Functions are
            called when their columns are requested.
        size (int): Number of rows. Needed if there are only functions; otherwise the length of the
            first list or array is used.

    Returns:
        TabularDataset: The dataset.

    Raises:
        ValueError: If lengths differ, keys repeat, a function has no key, or the number of rows is
            not known.
        TypeError: If ``data`` is something else.

    .. admonition:: Example

        >>> from chainer.dataset import tabular
        >>> dataset = tabular.from_data({'x': [1, 2, 3], 'square': lambda i: (i + 1) ** 2})
        >>> dataset[2]
        {'x': 3, 'square': 9}
        >>> dataset.slice[:, 'x'].fetch()
        [1, 2, 3]
    """
    # The mode is known here. A join would ask its datasets, which might call a function.
    if isinstance(data, dict):
        pairs = list(data.items())
        size = _find_size((value for _, value in pairs), size)
        return ModeView(_join([_from_pair(key, value, size) for key, value in pairs]), dict)
    # A tuple of a name and something else is a single column with a name.
    if isinstance(data, tuple) and not _is_pair(data):
        size = _find_size((part[1] if _is_pair(part) else part for part in data), size)
        return ModeView(_join([_from_part(part, size) for part in data]), tuple)
    return _from_part(data, size)


def _is_pair(data: DataLike) -> bool:
    """Tells whether data are a key, or a tuple of keys, with something else."""
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    key = data[0]
    return isinstance(key, str) or (
        isinstance(key, tuple) and all(isinstance(name, str) for name in key)
    )


def _is_column(data: DataLike) -> bool:
    return isinstance(data, list) or backend.is_array(data)


def _find_size(columns: Any, size: int | None) -> int | None:
    """Returns the number of rows: the given one, or the length of the first list or array."""
    if size is not None:
        return size
    return next((len(column) for column in columns if _is_column(column)), None)


def _join(datasets: list[TabularDataset]) -> TabularDataset:
    if not datasets:
        raise ValueError("data must have at least one column, got none")
    return datasets[0].join(*datasets[1:])


def _from_part(data: DataLike, size: int | None) -> TabularDataset:
    if _is_pair(data):
        key, column = data
        return _from_pair(key, column, size)
    if _is_column(data):
        return ColumnDataset(data)
    if callable(data):
        raise ValueError("a function needs a key: write (key, function)")
    raise _unsupported(data)


def _from_pair(
    key: str | tuple[str, ...], data: Column | Callable[[int], Any], size: int | None
) -> TabularDataset:
    if isinstance(key, str) and _is_column(data):
        return ColumnDataset(data, key)
    if not callable(data):
        raise _unsupported(data, key)
    if size is None:
        raise ValueError(f"size must be given, because the function of {key!r} has no length")
    return _RowNumbers(size).transform(key, data)


def _unsupported(data: DataLike, key: str | tuple[str, ...] | None = None) -> TypeError:
    expected = "a list, an array or a function"
    if isinstance(key, tuple):
        expected = "a function"
    where = "data" if key is None else f"data of {key!r}"
    return TypeError(f"{where} must be {expected}, got {type(data).__name__}")


# Release 7 has the function in a module of the same name.
make_callable(__name__, from_data)
