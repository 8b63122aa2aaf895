"""Minibatches that remember which arrays their examples were taken from.

A batch is a plain list of examples to everybody. When it was cut out of NumPy arrays and nobody
changed the list since, :func:`~chainer.dataset.concat_examples` can copy the rows in one NumPy call
for each array instead of collecting them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy

from chainer.training.dataset.dataset_mixin import DatasetMixin

#: Datasets of these classes can be sliced, which may be faster than reading single examples.
_SLICEABLE = (DatasetMixin, list, tuple, numpy.ndarray)

Index = slice | numpy.ndarray[Any, Any]


class Column:
    """Some rows of an array.

    Args:
        array (numpy.ndarray): Source.
        index (slice or numpy.ndarray): Which rows, as a slice or an array of non-negative integers.
    """

    __slots__ = ("_array", "_index")

    def __init__(self, array: numpy.ndarray[Any, Any], index: Index) -> None:
        if array.ndim == 1:
            # The examples will be scalars, that is, copies: they are taken now.
            self._array, self._index = array[index], None
        else:
            self._array, self._index = array, index

    def examples(self) -> list[Any]:
        """Returns the rows one by one: views of the source, or scalars."""
        if isinstance(self._index, numpy.ndarray):
            array = self._array
            return [array[i] for i in self._index.tolist()]
        return list(self._array if self._index is None else self._array[self._index])

    def gather(self) -> numpy.ndarray[Any, Any]:
        """Returns a new array of the rows."""
        if isinstance(self._index, numpy.ndarray):
            return self._array[self._index]
        return (self._array if self._index is None else self._array[self._index]).copy()


class Batch(list[Any]):
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
        examples: Sequence[Any],
        columns: Sequence[Column] | None,
        combine: Callable[[list[Any]], Any],
    ) -> None:
        super().__init__(examples)
        self._columns = columns
        self._combine = combine

    def concatenated(self, convert: Callable[[Any], Any]) -> Any:
        """Returns the examples as array(s), or None where they have to be collected one by one.

        Args:
            convert: Applied to each array.
        """
        if self._columns is None:
            return None
        return self._combine([convert(column.gather()) for column in self._columns])

    def __reduce__(self) -> Any:
        return (list, (list(self),))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._columns = None
        super().__setitem__(index, value)

    def __delitem__(self, index: Any) -> None:
        self._columns = None
        super().__delitem__(index)

    def __iadd__(self, other: Any) -> Any:
        self._columns = None
        return super().__iadd__(other)

    def __imul__(self, times: SupportsIndex) -> Any:
        self._columns = None
        return super().__imul__(times)

    def append(self, example: Any) -> None:
        """Adds an example."""
        self._columns = None
        super().append(example)

    def extend(self, examples: Any) -> None:
        """Adds examples."""
        self._columns = None
        super().extend(examples)

    def insert(self, index: SupportsIndex, example: Any) -> None:
        """Inserts an example."""
        self._columns = None
        super().insert(index, example)

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Takes an example out."""
        self._columns = None
        return super().pop(index)

    def remove(self, example: Any) -> None:
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


def has_plain_rows(array: Any) -> bool:
    """Tells whether an object is a NumPy array of numbers, whose rows can be taken all at once."""
    return type(array) is numpy.ndarray and array.ndim >= 1 and array.dtype.kind in "biufc"


def _single(columns: list[Any]) -> Any:
    return columns[0]


def tuple_batch(arrays: Sequence[Any], index: Index) -> Batch | None:
    """Returns a batch of tuples, with one element of each array; None if that has no fast way."""
    if not all(map(has_plain_rows, arrays)):
        return None
    columns = [Column(array, index) for array in arrays]
    return Batch(list(zip(*(column.examples() for column in columns))), columns, tuple)


def dict_batch(arrays: dict[str, Any], index: Index) -> Batch | None:
    """Returns a batch of dictionaries; None if that has no fast way."""
    if not all(map(has_plain_rows, arrays.values())):
        return None
    columns = [Column(array, index) for array in arrays.values()]
    keys = tuple(arrays)
    examples = [dict(zip(keys, row)) for row in zip(*(column.examples() for column in columns))]
    return Batch(examples, columns, lambda gathered: dict(zip(keys, gathered)))


def fast_batch(dataset: Any, index: Index) -> Batch | None:
    """Returns some examples of a dataset where there is a fast way, else None.

    Args:
        dataset: Dataset. Unless it is an array, its method ``_batch(index)`` decides, if it has
            one.
        index (slice or numpy.ndarray): Examples to return, as a slice with non-negative bounds or
            an array of non-negative integers.
    """
    if has_plain_rows(dataset):
        column = Column(dataset, index)
        return Batch(column.examples(), [column], _single)
    method = getattr(dataset, "_batch", None)
    return None if method is None else method(index)


def read_batch(dataset: Any, index: Index) -> list[Any]:
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
