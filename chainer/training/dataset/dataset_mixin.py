"""Base class of datasets that know how to get one example."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.misuse import warn_once
from chainer.core.typing import DatasetLike, HostArray, Index
from chainer.core.utils.repr_texts import dataset_text


class DatasetMixin:
    """Default implementation of dataset indexing.

    DatasetMixin provides the :meth:`__getitem__` operator. The default implementation uses
    :meth:`get_example` to extract each example, and combines the results into a list. This mixin
    makes it easy to implement a new dataset that does not support efficient slicing.

    Dataset implementation using DatasetMixin still has to provide the :meth:`__len__` operator
    explicitly.

    Example:
        >>> class Squares(chainer.dataset.DatasetMixin):
        ...     def __len__(self):
        ...         return 10
        ...     def get_example(self, i):
        ...         return i * i
        >>> squares = Squares()
        >>> squares[3], squares[1:4]
        (9, [1, 4, 9])
    """

    def __repr__(self) -> str:
        return f"<{dataset_text(self)}>"

    def __getitem__(self, index: Index) -> Any:
        """Returns an example or a sequence of examples.

        It implements the standard Python indexing and one-dimensional integer array indexing. It
        uses the :meth:`get_example` method by default, but it may be overridden by the
        implementation to, for example, improve the slicing performance.

        Args:
            index (int, slice, list or numpy.ndarray): An index of an example or indexes of
                examples. A one-dimensional boolean array selects the examples where it is True.

        Returns:
            If index is int, returns an example created by ``get_example``. If index is either slice
            or one-dimensional list or numpy.ndarray, returns a list of examples created by
            ``get_example``.

        Raises:
            IndexError: If an index is out of range, or an index array has not one dimension.

        .. admonition:: Example

            >>> import numpy
            >>> from chainer import dataset
            >>> class SimpleDataset(dataset.DatasetMixin):
            ...     def __init__(self, values):
            ...         self.values = values
            ...     def __len__(self):
            ...         return len(self.values)
            ...     def get_example(self, i):
            ...         return self.values[i]
            ...
            >>> ds = SimpleDataset([0, 1, 2, 3, 4, 5])
            >>> ds[1]   # Access by int
            1
            >>> ds[1:3]  # Access by slice
            [1, 2]
            >>> ds[[4, 0]]  # Access by one-dimensional integer list
            [4, 0]
            >>> index = numpy.arange(3)
            >>> ds[index]  # Access by one-dimensional integer numpy.ndarray
            [0, 1, 2]
        """
        if isinstance(index, slice):
            return [self.get_example(i) for i in range(*index.indices(len(self)))]
        if isinstance(index, (list, numpy.ndarray)):
            return [self.get_example(i) for i in index_list(index, len(self))]
        return self.get_example(index)

    def __len__(self) -> int:
        """Returns the number of data points."""
        raise NotImplementedError(f"{type(self).__name__} must define __len__()")

    def get_example(self, i: int) -> Any:
        """Returns the i-th example.

        Implementations should override it. It should raise :class:`IndexError` if the index is
        invalid.

        Args:
            i (int): The index of the example.

        Returns:
            The i-th example.
        """
        raise NotImplementedError(f"{type(self).__name__} must define get_example()")


def expect_length(dataset: DatasetLike, length: int, problem: str) -> None:
    """Raises ValueError unless a dataset has the length of the first one.

    Args:
        dataset: The dataset.
        length: Length of the first dataset.
        problem: Beginning of the message.
    """
    if len(dataset) != length:
        raise ValueError(f"{problem}: expected {length}, as the first one has, got {len(dataset)}")


def expect_positions(dataset: DatasetLike, name: str) -> None:
    """Warns of a table that looks up examples by label, as Series and DataFrames of pandas do.

    Args:
        dataset: The dataset.
        name: Name of the argument.
    """
    cls = type(dataset)
    if getattr(cls, "iloc", None) is None:
        return
    table: Any = dataset
    if len(table.shape) > 1:
        how = "dataset[i] is a column, not a row"
    elif numpy.array_equal(numpy.asarray(table.index), numpy.arange(len(table))):
        return  # labels are positions
    else:
        how = "dataset[i] is the example with the label i, which is not the i-th one"
    text = f"{name} is a {cls.__name__}, of which {how}: give its values, as by to_numpy()"
    warn_once("lookup", f"{cls.__name__} {name}", text)


def index_list(index: list[int] | HostArray, length: int) -> list[int]:
    """Returns a one-dimensional index list or array as a list of integers.

    Args:
        index (list or numpy.ndarray): Integers, or as many booleans as there are examples.
        length (int): Number of examples.

    Raises:
        IndexError: If an array has not one dimension, or a mask has the wrong length.
    """
    # A list may hold anything that the dataset accepts, such as negative integers.
    if isinstance(index, list):
        return index
    if index.ndim == 0:
        return [index.item()]
    if index.ndim != 1:
        raise IndexError(f"index array must have one dimension, got shape {index.shape}")
    if index.dtype == bool:
        if len(index) != length:
            raise IndexError(f"mask must have length {length}, got {len(index)}")
        index = numpy.flatnonzero(index)
    return index.tolist()
