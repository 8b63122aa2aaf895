"""The base class of datasets made of columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from chainer.core.arguments import wrong_type
from chainer.core.arrays import backend
from chainer.core.typing import Array
from chainer.training.dataset.dataset_mixin import DatasetMixin
from chainer.training.dataset.tabular.indexing import KeyIndexes, Rows

if TYPE_CHECKING:
    from chainer.training.dataset.tabular.slice_view import SliceHelper

Mode: TypeAlias = type[tuple[Any, ...]] | type[dict[Any, Any]] | None
"""Form of an example: ``tuple``, ``dict``, or None for the bare value of a single column."""

Column: TypeAlias = Any
"""A list or an array with one entry for each row."""

Columns: TypeAlias = Any
"""Result of ``fetch``: a tuple or dictionary of columns, or one column."""


class TabularDataset(DatasetMixin):
    """Dataset whose examples all have the same columns.

    A subclass defines the length, :attr:`keys`, :attr:`mode` and :meth:`get_examples`. Everything
    else follows: single examples, whole columns, and views that select rows and columns, join
    datasets or transform examples. Views read nothing until their examples are asked for.

    :func:`chainer.dataset.tabular.from_data` makes such a dataset of lists, arrays and functions.

    .. admonition:: Example

        >>> from chainer.dataset import TabularDataset
        >>> class Squares(TabularDataset):
        ...     keys = ('number', 'square')
        ...     mode = tuple
        ...     def __len__(self):
        ...         return 5
        ...     def get_examples(self, indices, key_indices):
        ...         rows = range(5)
        ...         if isinstance(indices, slice):
        ...             rows = rows[indices]
        ...         elif indices is not None:
        ...             rows = indices
        ...         columns = [list(rows), [i * i for i in rows]]
        ...         if key_indices is None:
        ...             return tuple(columns)
        ...         return tuple([columns[k] for k in key_indices])
        >>> dataset = Squares()
        >>> dataset[3]
        (3, 9)
        >>> dataset.slice[1:3, 'square'].fetch()
        [1, 4]
        >>> dataset.asdict()[-1]
        {'number': 4, 'square': 16}
    """

    def __len__(self) -> int:
        """Returns the number of rows."""
        raise NotImplementedError(f"{type(self).__name__} must define __len__()")

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        raise NotImplementedError(f"{type(self).__name__} must define keys")

    @property
    def mode(self) -> Mode:
        """Form of an example.

        ``tuple``, ``dict`` (by :attr:`keys`), or None: the bare value of the single column.
        """
        raise NotImplementedError(f"{type(self).__name__} must define mode")

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns columns of some rows.

        Args:
            indices (list of ints, slice or None): Rows: non-negative numbers, which may repeat and
                come in any order, a slice, or None for all rows.
            key_indices (tuple of ints or None): Columns: non-negative numbers, which may repeat
                and come in any order, or None for all columns.

        Returns:
            tuple: Requested columns, each a list or an array with one entry for each row. It is a
            tuple in every :attr:`mode`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define get_examples()")

    def get_example(self, i: int) -> Any:
        """Returns one example.

        Args:
            i (int): Number of the row; a negative one counts from the end.

        Returns:
            A tuple, a dictionary or a bare value, depending on :attr:`mode`.

        Raises:
            IndexError: If there is no such row.
        """
        index = operator.index(i)
        length = len(self)
        # Checked here, because a view maps any number onto some row of its source.
        if not -length <= index < length:
            raise IndexError(f"index {index} is out of range for {length} rows")
        columns = self.get_examples([index % length], None)
        return self._combine(tuple([column[0] for column in columns]))

    def _combine(self, values: tuple[Any, ...]) -> Any:
        """Returns values of all columns as an example of this mode."""
        mode = self.mode
        if mode is tuple:
            return values
        return dict(zip(self.keys, values)) if mode is dict else values[0]

    def __iter__(self) -> Iterator[Any]:
        """Iterates over the examples in order."""
        # Without this method Python would read until an IndexError.
        return (self.get_example(i) for i in range(len(self)))

    def fetch(self) -> Columns:
        """Reads all data.

        Returns:
            A tuple of columns, a dictionary of columns, or the single column, depending on
            :attr:`mode`.
        """
        return self._combine(self.get_examples(None, None))

    def convert(self, data: Columns) -> Any:
        """Makes arrays of columns.

        :meth:`with_converter` replaces this method.

        Args:
            data: Result of :meth:`fetch`.

        Returns:
            An array for each column: a tuple, a dictionary or one array, as ``data`` is. Arrays
            stay as they are. A list becomes an array on the device of its first element.
        """
        if isinstance(data, tuple):
            return tuple([_as_array(column) for column in data])
        if isinstance(data, dict):
            return {key: _as_array(column) for key, column in data.items()}
        return _as_array(data)

    @property
    def slice(self) -> SliceHelper:
        """Selects rows and columns: ``dataset.slice[rows]`` or ``dataset.slice[rows, columns]``.

        Rows are a slice, a list or array of integers, or a mask. Columns are a name or number,
        which makes a dataset of bare values, or a tuple of these. The result is a view.

        .. admonition:: Example

            >>> from chainer.dataset import tabular
            >>> dataset = tabular.from_data({'a': [0, 1, 2, 3], 'b': [10, 11, 12, 13]})
            >>> dataset.slice[[3, 1], ('b', 'a')].fetch()
            {'b': [13, 11], 'a': [3, 1]}
            >>> dataset.slice[::-1, 'b'].fetch()
            [13, 12, 11, 10]
            >>> dataset.slice[[True, False, False, True]][1]
            {'a': 3, 'b': 13}
        """
        # Imported here, as in the methods below, because views derive from this class.
        from chainer.training.dataset.tabular.slice_view import SliceHelper

        return SliceHelper(self)

    def astuple(self) -> TabularDataset:
        """Returns a view whose examples are tuples."""
        from chainer.training.dataset.tabular.simple_views import ModeView

        return ModeView(self, tuple)

    def asdict(self) -> TabularDataset:
        """Returns a view whose examples are dictionaries by :attr:`keys`."""
        from chainer.training.dataset.tabular.simple_views import ModeView

        return ModeView(self, dict)

    def concat(self, *datasets: TabularDataset) -> TabularDataset:
        """Stacks the rows of datasets.

        Args:
            datasets (TabularDataset): Datasets with the same :attr:`keys`.

        Returns:
            TabularDataset: A view with the mode and the converter of this dataset.

        Raises:
            ValueError: If the keys differ.
        """
        from chainer.training.dataset.tabular.concat_view import ConcatView

        return ConcatView(self, *datasets)

    def join(self, *datasets: TabularDataset) -> TabularDataset:
        """Puts the columns of datasets side by side.

        Args:
            datasets (TabularDataset): Datasets of the same length whose :attr:`keys` differ.

        Returns:
            TabularDataset: A view. Its mode is the first mode among the datasets that is not None,
            or ``tuple``. It has the converter of this dataset.

        Raises:
            ValueError: If lengths differ, or a key occurs twice.
        """
        from chainer.training.dataset.tabular.join_view import JoinView

        return JoinView(self, *datasets)

    def transform(
        self, keys: str | tuple[str, ...], transform: Callable[..., Any]
    ) -> TabularDataset:
        """Applies a function to each example.

        Args:
            keys (str or tuple of strs): Names of the columns of the result.
            transform (callable): Takes an example: the elements of a tuple as positional arguments,
                the elements of a dictionary as keyword arguments, a bare value as the only
                argument. It returns a tuple, a dictionary, or the value of a single column, always
                of the same kind, which becomes the mode of the result.

        Returns:
            TabularDataset: A view, which calls the function each time a row is requested.

        .. admonition:: Example

            >>> from chainer.dataset import tabular
            >>> dataset = tabular.from_data({'a': [0, 1, 2], 'b': [10, 11, 12]})
            >>> dataset.transform('sum', lambda a, b: a + b).fetch()
            [10, 12, 14]
        """
        from chainer.training.dataset.tabular.transform_views import TransformView

        return TransformView(self, keys, transform)

    def transform_batch(
        self, keys: str | tuple[str, ...], transform_batch: Callable[..., Any]
    ) -> TabularDataset:
        """Applies a function to whole columns.

        Args:
            keys (str or tuple of strs): Names of the columns of the result.
            transform_batch (callable): As for :meth:`transform`, with lists or arrays of as many
                entries as rows are requested. It returns columns of the same length.

        Returns:
            TabularDataset: A view, which calls the function each time rows are requested.

        .. admonition:: Example

            >>> from chainer.dataset import tabular
            >>> dataset = tabular.from_data(np.arange(4))
            >>> dataset.transform_batch('half', lambda a: a / 2).slice[1:3].fetch()
            array([0.5, 1. ])
        """
        from chainer.training.dataset.tabular.transform_views import TransformBatchView

        return TransformBatchView(self, keys, transform_batch)

    def with_converter(self, converter: Callable[..., Any]) -> TabularDataset:
        """Replaces :meth:`convert`.

        Args:
            converter (callable): Takes the columns: of a tuple as positional arguments, of a
                dictionary as keyword arguments, a single column as the only argument.

        Returns:
            TabularDataset: A view. Views of it keep the converter.
        """
        from chainer.training.dataset.tabular.simple_views import ConverterView

        if not callable(converter):
            raise wrong_type("converter", "a function of the columns", converter)
        return ConverterView(self, converter)


def _as_array(column: Column) -> Array:
    """Returns an array as it is, a list as an array on the device of its first element."""
    if backend.is_array(column):
        return column
    if len(column) > 0 and backend.is_array(column[0]):
        with backend.get_device_from_array(column[0]):
            xp = backend.get_array_module(column[0])
            # stack rather than asarray: some array modules do not accept lists of arrays.
            return xp.stack(column)
    return numpy.asarray(column)
