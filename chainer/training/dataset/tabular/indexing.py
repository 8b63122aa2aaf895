"""Numbers of rows and columns: what users write, and what ``get_examples`` takes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

import numpy

Rows: TypeAlias = slice | list[int] | None
"""Rows as ``get_examples`` takes them: all (None), a slice, or non-negative numbers."""

KeyIndexes: TypeAlias = tuple[int, ...] | None
"""Columns as ``get_examples`` takes them: all (None), or their numbers."""

RowsLike: TypeAlias = slice | Sequence[int] | Sequence[bool] | numpy.ndarray[Any, Any]
"""Rows as users write them: a slice, a list or array of numbers, or a mask."""

KeysLike: TypeAlias = int | str | tuple[int | str, ...]
"""Columns as users write them: one name or number, or a tuple of these."""


def normalize_rows(rows: RowsLike, length: int) -> slice | list[int]:
    """Returns a slice as it is, anything else as a list of non-negative numbers.

    Args:
        rows: A slice, numbers of rows (negative ones count from the end), or as many booleans as
            there are rows.
        length: Number of rows of the dataset.

    Raises:
        IndexError: If a number is out of range.
        ValueError: If a mask has another length.
        TypeError: If ``rows`` has no length, or its elements are not numbers.
    """
    if isinstance(rows, slice):
        return rows
    try:
        count = len(rows)
    except TypeError:
        raise TypeError(
            f"rows must be a slice, a list of integers or a mask, got {rows!r}; "
            "for one row write dataset[i]"
        ) from None
    # An empty list is a list of no numbers, not a mask of the wrong length.
    if count and all(isinstance(row, (bool, numpy.bool_)) for row in rows):
        if count != length:
            raise ValueError(f"mask must have length {length}, got {count}")
        return [i for i, selected in enumerate(rows) if selected]
    return [_normalize(int(row), length, "row") for row in rows]


def _normalize(index: int, length: int, what: str) -> int:
    normalized = index + length if index < 0 else index
    if not 0 <= normalized < length:
        raise IndexError(f"{what} {index} is out of range for {length} {what}s")
    return normalized


def normalize_keys(columns: KeysLike, keys: tuple[str, ...]) -> tuple[tuple[int, ...], bool]:
    """Returns the numbers of columns, and whether a single one was named without a tuple.

    Args:
        columns: One name or number, or a tuple of these.
        keys: Names of all columns.

    Raises:
        IndexError: If a number is out of range.
        KeyError: If there is no column of that name.
    """
    is_single = not isinstance(columns, tuple)
    named = cast("tuple[int | str, ...]", (columns,) if is_single else columns)
    return tuple([_key_index(column, keys) for column in named]), is_single


def _key_index(column: int | str, keys: tuple[str, ...]) -> int:
    if isinstance(column, str):
        if column in keys:
            return keys.index(column)
    elif hasattr(column, "__index__"):
        return _normalize(operator.index(column), len(keys), "column")
    raise KeyError(f"there is no column {column!r}, only {', '.join(map(repr, keys))}")


def range_of(rows: Rows, length: int) -> Sequence[int]:
    """Returns the numbers of the rows as a sequence that can be indexed and sliced.

    Args:
        rows: Rows as ``get_examples`` takes them.
        length: Number of rows of the dataset.
    """
    if isinstance(rows, list):
        return rows
    return range(length) if rows is None else range(*rows.indices(length))


def count_rows(rows: Rows, length: int) -> int:
    """Returns how many rows are selected."""
    return len(range_of(rows, length))


def compose_rows(view: Rows, request: Rows, length: int) -> Rows:
    """Returns rows of a dataset, given which rows of a view of it are requested.

    Args:
        view: Rows of the dataset that the view shows.
        request: Rows of the view.
        length: Number of rows of the dataset.

    Returns:
        None if both are None, a slice if both are slices or None, otherwise a list.
    """
    if request is None:
        return view
    if view is None:
        return request
    shown = range_of(view, length)
    if isinstance(request, list):
        return [shown[i] for i in request]
    part = shown[request]
    return as_slice(part) if isinstance(part, range) else list(part)


def as_slice(rows: range) -> slice:
    """Returns the slice that selects the same rows."""
    # A range with a negative step ends at -1 or below, which a slice would count from the end.
    return slice(rows.start, None if rows.stop < 0 else rows.stop, rows.step)


def compose_keys(view: KeyIndexes, request: KeyIndexes) -> KeyIndexes:
    """Returns columns of a dataset, given which columns of a view of it are requested."""
    if view is None:
        return request
    return view if request is None else tuple([view[i] for i in request])


def take(column: Any, rows: Rows) -> Any:
    """Returns entries of a list, as a list, or of an array, as an array."""
    if rows is None:
        return column
    # An array takes a list of numbers by itself, a list does not.
    if isinstance(rows, list) and isinstance(column, list):
        return [column[i] for i in rows]
    return column[rows]


def requested(key_indexes: KeyIndexes, count: int) -> Iterable[int]:
    """Returns the numbers of the requested columns.

    Args:
        key_indexes: As ``get_examples`` takes them.
        count: Number of all columns.
    """
    return range(count) if key_indexes is None else key_indexes
