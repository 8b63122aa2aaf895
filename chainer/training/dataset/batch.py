"""Minibatches that remember which arrays their examples were taken from.

A batch is a list of examples. If the examples are rows of NumPy arrays and the list was not changed
since, :func:`~chainer.dataset.concat_examples` copies the rows in one NumPy call for each array
instead of collecting them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, SupportsIndex, TypeAlias, TypeGuard

import numpy

from chainer.core.typing import ArrayTree, DatasetLike, HostArray
from chainer.training.dataset.dataset_mixin import DatasetMixin

#: Datasets of these classes can be sliced, which may be faster than reading single examples.
_SLICEABLE = (DatasetMixin, list, tuple, numpy.ndarray)

Index: TypeAlias = slice | HostArray
"""Examples of a batch: a slice, or an array of non-negative integers."""

Example: TypeAlias = Any
"""An example of a dataset: an array, a number, or a tuple, list or dictionary of these."""


class Column:
    """Some rows of an array.

    Args:
        array (numpy.ndarray): Source.
        index (slice or numpy.ndarray): Which rows, as a slice or an array of non-negative integers.
    """

    __slots__ = ("_array", "_index")

    def __init__(self, array: HostArray, index: Index) -> None:
        if array.ndim == 1:
            # Examples of such an array are scalars, which are copies. They are taken now, so that
            # a later change of the array does not make them differ from the result.
            self._array, self._index = array[index], None
        else:
            self._array, self._index = array, index

    def examples(self) -> list[Example]:
        """Returns the rows one by one: views of the source, or scalars."""
        if isinstance(self._index, numpy.ndarray):
            array = self._array
            return [array[i] for i in self._index.tolist()]
        return list(self._array if self._index is None else self._array[self._index])

    def gather(self) -> HostArray:
        """Returns a new array of the rows."""
        if isinstance(self._index, numpy.ndarray):
            return self._array[self._index]
        return (self._array if self._index is None else self._array[self._index]).copy()


class Batch(list[Example]):
    """List of examples together with the columns it is made of.

    Every method that changes the list makes it forget the columns.

    Args:
        examples: The examples.
        columns: Columns the examples were taken from.
        combine: Makes what :func:`~chainer.dataset.concat_examples` returns of a list with one
            array for each column.
    """

    __slots__ = ("_columns", "_combine")

    def __init__(
        self,
        examples: Sequence[Example],
        columns: Sequence[Column] | None,
        combine: Callable[[list[HostArray]], ArrayTree],
    ) -> None:
        super().__init__(examples)
        self._columns = columns
        self._combine = combine

    def concatenated(self, convert: Callable[[HostArray], ArrayTree]) -> ArrayTree:
        """Returns the examples as array(s), or None where they have to be collected one by one.

        Args:
            convert: Applied to each array.
        """
        if self._columns is None:
            return None
        return self._combine([convert(column.gather()) for column in self._columns])

    def __reduce__(self) -> tuple[type[list[Example]], tuple[list[Example]]]:
        # A pickle has the examples only: whole datasets would travel with the columns.
        return (list, (list(self),))

    def __setitem__(self, index: Any, value: Example) -> None:
        self._columns = None
        super().__setitem__(index, value)

    def __delitem__(self, index: Any) -> None:
        self._columns = None
        super().__delitem__(index)

    def __iadd__(self, other: Iterable[Example]) -> Self:
        self._columns = None
        return super().__iadd__(other)

    def __imul__(self, times: SupportsIndex) -> Self:
        self._columns = None
        return super().__imul__(times)

    def append(self, example: Example) -> None:
        """Adds an example."""
        self._columns = None
        super().append(example)

    def extend(self, examples: Iterable[Example]) -> None:
        """Adds examples."""
        self._columns = None
        super().extend(examples)

    def insert(self, index: SupportsIndex, example: Example) -> None:
        """Inserts an example."""
        self._columns = None
        super().insert(index, example)

    def pop(self, index: SupportsIndex = -1) -> Example:
        """Takes an example out."""
        self._columns = None
        return super().pop(index)

    def remove(self, example: Example) -> None:
        """Removes an example."""
        self._columns = None
        super().remove(example)

    def clear(self) -> None:
        """Removes all examples."""
        self._columns = None
        super().clear()

    def reverse(self) -> None:
        """Reverses the order."""
        self._columns = None
        super().reverse()

    def sort(self, **kwargs: Any) -> None:
        """Sorts the examples."""
        self._columns = None
        super().sort(**kwargs)


def has_number_rows(array: object) -> TypeGuard[HostArray]:
    """Returns whether an object is a NumPy array of numbers, whose rows can be taken at once."""
    # Subclasses of arrays and arrays of objects may do something else when they are indexed.
    return type(array) is numpy.ndarray and array.ndim >= 1 and array.dtype.kind in "biufc"


def _single(columns: list[HostArray]) -> HostArray:
    return columns[0]


def tuple_batch(arrays: Sequence[DatasetLike], index: Index) -> Batch | None:
    """Returns a batch of tuples, with one element of each array; None if that has no fast way."""
    columns = [Column(array, index) for array in arrays if has_number_rows(array)]
    if len(columns) != len(arrays):
        return None
    return Batch(list(zip(*(column.examples() for column in columns))), columns, tuple)


def dict_batch(arrays: Mapping[str, DatasetLike], index: Index) -> Batch | None:
    """Returns a batch of dictionaries; None if that has no fast way."""
    columns = [Column(array, index) for array in arrays.values() if has_number_rows(array)]
    if len(columns) != len(arrays):
        return None
    keys = tuple(arrays)
    examples = [dict(zip(keys, row)) for row in zip(*(column.examples() for column in columns))]
    return Batch(examples, columns, lambda gathered: dict(zip(keys, gathered)))


def fast_batch(dataset: DatasetLike, index: Index) -> Batch | None:
    """Returns some examples of a dataset where there is a fast way, else None.

    Args:
        dataset: Dataset. Unless it is an array, its method ``_batch(index)`` decides, if it has
            one.
        index (slice or numpy.ndarray): Examples to return, as a slice with non-negative bounds or
            an array of non-negative integers.
    """
    if has_number_rows(dataset):
        column = Column(dataset, index)
        return Batch(column.examples(), [column], _single)
    # Not a public protocol: only datasets of this package, whose rows are known, define it.
    method = getattr(dataset, "_batch", None)
    return None if method is None else method(index)


def read_batch(dataset: DatasetLike, index: Index) -> list[Example]:
    """Returns some examples of a dataset as a list, a :class:`Batch` where there is a fast way.

    Args:
        dataset: Dataset.
        index (slice or numpy.ndarray): As for :func:`fast_batch`.
    """
    batch = fast_batch(dataset, index)
    if batch is not None:
        return batch
    if not isinstance(index, slice):
        return [dataset[i] for i in index.tolist()]
    if isinstance(dataset, _SLICEABLE):
        return list(dataset[index])
    # Other datasets may accept integers only.
    return [dataset[i] for i in range(index.start, index.stop)]
