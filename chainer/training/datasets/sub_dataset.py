"""Parts of a dataset: splits and folds."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy

from chainer.core.misuse import expect_number, warn_once
from chainer.core.typing import DatasetLike
from chainer.core.utils.argument import explained_keywords, renamed_arguments
from chainer.training.dataset import batch
from chainer.training.dataset.dataset_mixin import DatasetMixin, expect_positions

#: Sequence of integers.
Order = Sequence[int] | numpy.ndarray[Any, Any]


class SubDataset(DatasetMixin):
    """Subset of a base dataset.

    SubDataset defines a subset of a given base dataset. The subset is defined as an interval of
    indexes, optionally with a given permutation.

    If ``order`` is given, then the ``i``-th example of this dataset is the ``order[start + i]``-th
    example of the base dataset, where ``i`` is a non-negative integer. If ``order`` is not given,
    then the ``i``-th example of this dataset is the ``start + i``-th example of the base dataset.
    Negative indexing is also allowed: in this case, the term ``start + i`` is replaced by ``finish
    + i``.

    SubDataset is often used to split a dataset into training and validation subsets. The training
    set is used for training, while the validation set is used to track the generalization
    performance, i.e. how the learned model works well on unseen data. We can tune hyperparameters
    (e.g. number of hidden units, weight initializers, learning rate, etc.) by comparing the
    validation performance. Note that we often use another set called test set to measure the
    quality of the tuned hyperparameter, which can be made by nesting multiple SubDatasets.

    There are two ways to make training-validation splits. One is a single split, where the dataset
    is split just into two subsets. It can be done by :func:`split_dataset` or
    :func:`split_dataset_random`. The other one is a :math:`k`-fold cross validation, in which the
    dataset is divided into :math:`k` subsets, and :math:`k` different splits are generated using
    each of the :math:`k` subsets as a validation set and the rest as a training set. It can be done
    by :func:`get_cross_validation_datasets`.

    Args:
        dataset: Base dataset.
        start (int): The first index in the interval.
        finish (int): The next-to-the-last index in the interval.
        order (sequence of ints): Permutation of indexes in the base dataset. If this is None, then
            the ascending order of indexes is used.

    Raises:
        ValueError: If the interval leaves the base dataset, or ``order`` has a wrong length.

    .. admonition:: Example

        >>> from chainer.datasets import SubDataset
        >>> dataset = SubDataset(['a', 'b', 'c', 'd'], 1, 3)
        >>> len(dataset), dataset[0], dataset[-1]
        (2, 'b', 'c')
    """

    def __init__(
        self, dataset: DatasetLike, start: int, finish: int, order: Order | None = None
    ) -> None:
        if start < 0 or finish > len(dataset) or finish < start:
            raise ValueError(
                "subset overruns the base dataset: start and finish must satisfy "
                f"0 <= start <= finish <= {len(dataset)}, got {start} and {finish}"
            )
        if order is not None and len(order) != len(dataset):
            raise ValueError(
                "order option must have the same length as the base dataset: "
                f"len(order) = {len(order)} while len(dataset) = {len(dataset)}"
            )
        expect_positions(dataset, "dataset")
        self._dataset = dataset
        self._start = start
        self._finish = finish
        self._size = finish - start
        # One example has the index that was given, an int or an int64. Batches need an array.
        self._order = order
        self._rows = numpy.asarray(order) if isinstance(order, list) else order

    def __len__(self) -> int:
        """Returns the number of data points."""
        return self._size

    def get_example(self, i: int) -> Any:
        """Returns the i-th example of the part; a negative index counts from its end.

        Args:
            i (int): The index of the example.

        Raises:
            IndexError: If the index is out of range.
        """
        if not -self._size <= i < self._size:
            raise IndexError(f"dataset index out of range: {i} for {self._size} examples")
        index = (self._start if i >= 0 else self._finish) + i
        return self._dataset[index if self._order is None else self._order[index]]

    def _batch(self, index: batch.Index) -> Any:
        # A subclass may compute something else from the rows.
        cls = type(self)
        if (cls.__getitem__, cls.get_example) != (DatasetMixin.__getitem__, SubDataset.get_example):
            return None
        if isinstance(index, slice):
            start, stop, step = index.indices(self._size)
            # A slice with a negative step could end before the first row.
            if step < 0:
                return None
            index = slice(self._start + start, self._start + max(stop, start), step)
        else:
            index = index + self._start
        if self._rows is not None:
            if not isinstance(self._rows, numpy.ndarray):
                return None
            index = self._rows[index]
        return batch.fast_batch(self._dataset, index)


def split_dataset(
    dataset: DatasetLike, split_at: int, order: Order | None = None
) -> tuple[SubDataset, SubDataset]:
    """Splits a dataset into two subsets.

    This function creates two instances of :class:`SubDataset`. These instances do not share any
    examples, and they together cover all examples of the original dataset.

    Args:
        dataset: Dataset to split.
        split_at (int): Position at which the base dataset is split.
        order (sequence of ints): Permutation of indexes in the base dataset. See the document of
            :class:`SubDataset` for details.

    Returns:
        tuple: Two :class:`SubDataset` objects. The first subset represents the examples of indexes
        ``order[:split_at]`` while the second subset represents the examples of indexes
        ``order[split_at:]``.

    Raises:
        TypeError: If ``split_at`` is not an integer.
        ValueError: If ``split_at`` is negative or exceeds the size of the dataset.

    .. admonition:: Example

        >>> from chainer.datasets import split_dataset
        >>> train, valid = split_dataset([0, 1, 2, 3, 4], 3)
        >>> train[:], valid[:]
        ([0, 1, 2], [3, 4])
    """
    size = len(dataset)
    split_at = _integer("split_at", split_at)
    if split_at < 0:
        raise ValueError(f"split_at must be non-negative, got {split_at}")
    if split_at > size:
        raise ValueError(f"split_at exceeds the dataset size: {split_at} > {size}")
    return (
        SubDataset(dataset, 0, split_at, order),
        SubDataset(dataset, split_at, size, order),
    )


@explained_keywords
def split_dataset_random(
    dataset: DatasetLike, first_size: int, seed: int | None = None
) -> tuple[SubDataset, SubDataset]:
    """Splits a dataset into two subsets randomly.

    This function creates two instances of :class:`SubDataset`. These instances do not share any
    examples, and they together cover all examples of the original dataset. The split is
    automatically done randomly.

    Args:
        dataset: Dataset to split.
        first_size (int): Size of the first subset.
        seed (int): Seed the generator used for the permutation of indexes. If an integer being
            convertible to 32 bit unsigned integers is specified, it is guaranteed that each sample
            in the given dataset always belongs to a specific subset. If None, the permutation is
            changed randomly.

    Returns:
        tuple: Two :class:`SubDataset` objects. The first subset contains ``first_size`` examples
            randomly chosen from
        the dataset without replacement, and the second subset contains the rest of the dataset.

    Example:
        >>> first, second = chainer.datasets.split_dataset_random(range(10), 7, seed=0)
        >>> len(first), len(second)
        (7, 3)
    """
    return split_dataset(dataset, first_size, _random_order(dataset, seed))


def split_dataset_n(dataset: DatasetLike, n: int, order: Order | None = None) -> list[SubDataset]:
    """Splits a dataset into ``n`` subsets of equal size.

    Args:
        dataset: Dataset to split.
        n (int): The number of subsets. Examples that are left over belong to no subset.
        order (sequence of ints): Permutation of indexes in the base dataset. See the document of
            :class:`SubDataset` for details.

    Returns:
        list: ``n`` :class:`SubDataset` objects. Each subset contains ``len(dataset) // n``
            examples.

    Example:
        >>> parts = chainer.datasets.split_dataset_n(range(10), 3)
        >>> [part[:] for part in parts]
        [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    """
    n = _integer("n", n)
    if n < 1:
        raise ValueError(f"n must be positive, got {n}")
    size = len(dataset) // n
    if not size:
        text = f"n should be at most {len(dataset)}, the number of examples, got {n}: all are empty"
        warn_once("number of subsets", "split_dataset_n", text)
    return [SubDataset(dataset, size * i, size * (i + 1), order) for i in range(n)]


def split_dataset_n_random(
    dataset: DatasetLike, n: int, seed: int | None = None
) -> list[SubDataset]:
    """Splits a dataset into ``n`` subsets of equal size randomly.

    Args:
        dataset: Dataset to split.
        n (int): The number of subsets. Examples that are left over belong to no subset.
        seed (int): Seed the generator used for the permutation of indexes, see
            :func:`split_dataset_random`.

    Returns:
        list: ``n`` :class:`SubDataset` objects, which do not share any examples.

    Example:
        >>> parts = chainer.datasets.split_dataset_n_random(range(10), 3, seed=0)
        >>> [len(part) for part in parts]
        [3, 3, 3]
    """
    return split_dataset_n(dataset, n, _random_order(dataset, seed))


@renamed_arguments(n_fold="n_folds")
def get_cross_validation_datasets(
    dataset: DatasetLike, n_folds: int | None = None, order: Order | None = None
) -> list[tuple[SubDataset, SubDataset]]:
    """Creates a set of training/test splits for cross validation.

    This function generates ``n_folds`` splits of the given dataset. The first part of each split
    corresponds to the training dataset, while the second part to the test dataset. No pairs of test
    datasets share any examples, and all test datasets together cover the whole base dataset. Each
    test dataset contains almost same number of examples (the numbers may differ up to 1).

    Args:
        dataset: Dataset to split.
        n_folds (int): Number of splits for cross validation.
        order (sequence of ints): Order of indexes with which each split is determined. If it is
            None, then no permutation is used.

    Returns:
        list of tuples: List of dataset splits.

    Raises:
        ValueError: If ``n_folds`` is not between one and the number of examples.

    .. admonition:: Example

        >>> from chainer.datasets import get_cross_validation_datasets
        >>> splits = get_cross_validation_datasets([0, 1, 2, 3], 2)
        >>> [(train[:], test[:]) for train, test in splits]
        [([0, 1], [2, 3]), ([2, 3], [0, 1])]
    """
    n_folds = _integer("n_folds", n_folds)
    size = len(dataset)
    if not 1 <= n_folds <= max(size, 1):
        raise ValueError(
            f"n_folds must be between 1 and {size}, the number of examples, got {n_folds}"
        )
    expect_number("n_folds of get_cross_validation_datasets", n_folds, at_least=2)
    # Integer arithmetic on the borders spreads what is left over: sizes differ by one at most.
    indexes = numpy.arange(size) if order is None else numpy.asarray(order)
    borders = [size * i // n_folds for i in range(n_folds + 1)]
    splits: list[tuple[SubDataset, SubDataset]] = []
    for start, stop in reversed(list(pairwise(borders))):
        # The order begins behind the test set and ends with it.
        rotated = numpy.concatenate([indexes[stop:], indexes[:start], indexes[start:stop]])
        splits.append(split_dataset(dataset, size - (stop - start), rotated))
    return splits


@renamed_arguments(n_fold="n_folds")
def get_cross_validation_datasets_random(
    dataset: DatasetLike, n_folds: int, seed: int | None = None
) -> list[tuple[SubDataset, SubDataset]]:
    """Creates a set of training/test splits for cross validation randomly.

    This function acts almost same as :func:`get_cross_validation_datasets`, except automatically
    generating random permutation.

    Args:
        dataset: Dataset to split.
        n_folds (int): Number of splits for cross validation.
        seed (int): Seed the generator used for the permutation of indexes. If an integer being
            convertible to 32 bit unsigned integers is specified, it is guaranteed that each sample
            in the given dataset always belongs to a specific subset. If None, the permutation is
            changed randomly.

    Returns:
        list of tuples: List of dataset splits.

    Example:
        >>> folds = chainer.datasets.get_cross_validation_datasets_random(range(10), 5, seed=0)
        >>> [(len(train), len(test)) for train, test in folds]
        [(8, 2), (8, 2), (8, 2), (8, 2), (8, 2)]
    """
    return get_cross_validation_datasets(dataset, n_folds, _random_order(dataset, seed))


def _random_order(dataset: DatasetLike, seed: int | None) -> numpy.ndarray[Any, Any]:
    return numpy.random.RandomState(seed).permutation(len(dataset))


def _integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be int, got {type(value)} instead") from None
