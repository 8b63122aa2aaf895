import copy
import pickle
import random

import numpy as np
import pytest

from chainer.dataset import concat_examples
from chainer.datasets import DictDataset, SubDataset, TransformDataset, TupleDataset
from chainer.training.dataset.batch import Batch, read_batch

X = np.arange(40, dtype=np.float32).reshape(10, 4)
T = np.arange(10, dtype=np.int32) + 100
ORDER = np.array([3, 1, 4, 1, 5, 9, 2, 6, 8, 7])

DATASETS = {
    "array": X,
    "vector": T,
    "tuple": TupleDataset(X, T),
    "one": TupleDataset(X),
    "dict": DictDataset(x=X, t=T),
    "sub": SubDataset(TupleDataset(X, T), 2, 9),
    "permuted": SubDataset(TupleDataset(X, T), 2, 9, ORDER),
    "permuted by a list": SubDataset(X, 2, 9, ORDER.tolist()),
    "nested": SubDataset(SubDataset(DictDataset(x=X), 1, 10, ORDER), 1, 8),
}
INDEXES = [np.array([5, 0, 5, 6]), slice(1, 4), slice(0, 0), np.array([], dtype=int)]


def slow(dataset, index):
    """The batch as a plain list, collected one by one."""
    numbers = range(*index.indices(len(dataset))) if isinstance(index, slice) else index.tolist()
    return [dataset[i] for i in numbers]


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    else:
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("index", INDEXES)
def test_fast_way_gives_the_same(name, index):
    dataset = DATASETS[name]
    batch = read_batch(dataset, index)
    assert type(batch) is Batch
    expected = slow(dataset, index)
    same(list(batch), expected)
    if expected:
        same(concat_examples(batch), concat_examples(expected))
        same(concat_examples(batch, -1, padding=0), concat_examples(expected, -1, padding=0))


def test_examples_are_views_and_results_are_copies():
    x = X.copy()
    batch = read_batch(TupleDataset(x, T), np.array([1, 2]))
    assert np.shares_memory(batch[0][0], x)
    first, second = concat_examples(batch), concat_examples(batch)
    for array in (*first, *second):
        assert array.flags.writeable
        assert not np.shares_memory(array, x)
        assert not np.shares_memory(array, T)
    assert not np.shares_memory(first[0], second[0])
    assert not np.shares_memory(first[1], second[1])
    batch[0][0][:] = -1  # a change of an example shows in the arrays
    assert (concat_examples(batch)[0][0] == -1).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b.append(b[0]),
        lambda b: b.extend(b[:1]),
        lambda b: b.insert(0, b[1]),
        lambda b: b.pop(),
        lambda b: b.remove(b[0]),
        lambda b: b.reverse(),
        lambda b: b.sort(key=lambda e: -e),
        lambda b: b.__setitem__(0, b[1]),
        lambda b: b.__setitem__(slice(0, 2), [b[1]]),
        lambda b: b.__delitem__(0),
        lambda b: b.__iadd__(b[:1]),
        lambda b: b.__imul__(2),
        random.shuffle,
    ],
)
def test_changed_batch_is_what_it_became(change):
    batch = read_batch(T, np.array([1, 2, 3]))
    change(batch)
    np.testing.assert_array_equal(concat_examples(batch), np.array(list(batch)))


def test_cleared_batch():
    batch = read_batch(T, np.array([1]))
    batch.clear()
    with pytest.raises(ValueError, match="empty"):
        concat_examples(batch)


def test_batch_is_a_list():
    batch = read_batch(T, np.array([1, 2, 3]))
    assert isinstance(batch, list)
    assert batch == [101, 102, 103]
    assert type(batch[1:]) is list
    assert type(pickle.loads(pickle.dumps(batch))) is list
    assert copy.copy(batch) == batch


class Overridden(TupleDataset):
    def __getitem__(self, index):
        return "overridden", index


class OverriddenSub(SubDataset):
    def get_example(self, i):
        return "overridden", i


@pytest.mark.parametrize(
    "dataset",
    [
        Overridden(X, T),
        OverriddenSub(TupleDataset(X, T), 0, 9),
        TransformDataset(TupleDataset(X, T), lambda example: ("transformed", example[1])),
        SubDataset(Overridden(X, T), 0, 9),
    ],
)
def test_overridden_methods_are_respected(dataset):
    assert read_batch(dataset, np.array([2]))[0][0] in ("overridden", "transformed")


@pytest.mark.parametrize(
    "dataset",
    [
        TupleDataset(X, list(T)),
        TupleDataset(X.astype(object), T),
        DictDataset(x=list(T)),
        list(range(10)),
        np.array(["a"] * 10),
    ],
)
@pytest.mark.parametrize("index", INDEXES)
def test_other_datasets(dataset, index):
    batch = read_batch(dataset, index)
    assert type(batch) is list
    expected = slow(dataset, index)
    assert len(batch) == len(expected)
    assert repr(batch) == repr(expected)
