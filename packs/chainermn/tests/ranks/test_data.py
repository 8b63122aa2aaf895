"""Datasets and iterators."""

import chainermn
import numpy as np
import pytest
from chainermn.datasets.scatter import (
    get_epoch_trigger,
    get_n_iterations_for_one_epoch,
    part_of,
)
from chainermn.iterators import create_multi_node_iterator, create_synchronized_iterator

import chainer
from chainer.iterators import SerialIterator


@pytest.mark.parametrize("count", [0, 1, 7, 10, 32])
@pytest.mark.parametrize("equal", [True, False])
def test_parts(count, equal):
    for size in range(1, 6):
        parts = [part_of(count, size, rank, equal) for rank in range(size)]
        assert {i for begin, end in parts for i in range(begin, end)} == set(range(count))
        lengths = [end - begin for begin, end in parts]
        if equal:
            assert set(lengths) == {-(-count // size)}
        else:
            assert sum(lengths) == count
            assert max(lengths) - min(lengths) <= 1


def test_documented_parts():
    parts = lambda n, p, equal: [part_of(n, p, r, equal) for r in range(p)]
    assert parts(7, 2, True) == [(0, 4), (3, 7)]
    assert parts(7, 2, False) == [(0, 4), (4, 7)]
    assert parts(10, 3, False) == [(0, 4), (4, 7), (7, 10)]


@pytest.mark.parametrize("equal", [True, False])
def test_scatter(comm, equal):
    root = comm.size - 1
    dataset = list(range(100, 111))
    own = dataset if comm.rank == root else None
    part = chainermn.scatter_dataset(own, comm, root=root, force_equal_length=equal)
    begin, end = part_of(11, comm.size, comm.rank, equal)
    assert isinstance(part, chainer.datasets.SubDataset)
    assert list(part) == dataset[begin:end]
    count = 11 if comm.rank == root else None
    assert chainermn.scatter_index(count, comm, root, force_equal_length=equal) == (begin, end)


def test_scatter_shuffled(comm):
    own = list(range(11)) if comm.rank == 0 else None
    part = chainermn.scatter_dataset(own, comm, shuffle=True, seed=5, max_buf_len=10)
    order = np.random.RandomState(5).permutation(11)
    begin, end = part_of(11, comm.size, comm.rank, True)
    assert list(part) == list(order[begin:end])


def test_bad_root(comm):
    for root in (-1, comm.size):
        with pytest.raises(AssertionError):
            chainermn.scatter_dataset([1], comm, root=root)
        with pytest.raises(AssertionError):
            chainermn.scatter_index(1, comm, root=root)


def test_empty_dataset():
    assert chainermn.datasets.create_empty_dataset([1, 2, 3]) == [(), (), ()]


def test_deprecated_functions(comm):
    with pytest.warns(DeprecationWarning, match="get_n_iterations"):
        assert get_n_iterations_for_one_epoch(range(7), 2, comm) == 4
    with pytest.warns(DeprecationWarning, match="get_epoch_trigger"):
        assert get_epoch_trigger(3, range(7), 2, comm) == (12, "iteration")


EXAMPLES = {
    "arrays": [np.arange(i, i + 3, dtype="float64") for i in range(5)],
    "numbers": [np.int64(2**40 + i) for i in range(5)],
    "pairs": [(np.full(2, i, "f"), np.int32(i)) for i in range(5)],
    "triples": [(np.full(2, i, "f"), i, float(i)) for i in range(5)],
}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_multi_node_iterator(comm, kind):
    master = comm.size - 1
    examples = EXAMPLES[kind]
    actual = SerialIterator(examples, 2, repeat=False, shuffle=False)
    iterator = create_multi_node_iterator(
        actual if comm.rank == master else None, comm, rank_master=master
    )
    assert iterator.dataset_size == 5
    reference = SerialIterator(examples, 2, repeat=False, shuffle=False)
    for expected in reference:
        batch = next(iterator)
        assert len(batch) == len(expected)
        for a, b in zip(batch, expected, strict=True):
            for x, y in zip(*((e if isinstance(e, tuple) else (e,)) for e in (a, b)), strict=True):
                np.testing.assert_array_equal(x, y)
                assert np.asarray(x).dtype == np.asarray(y).dtype
        assert iterator.epoch == reference.epoch
        assert iterator.is_new_epoch == reference.is_new_epoch
        assert iterator.epoch_detail == reference.epoch_detail
    with pytest.raises(StopIteration):
        next(iterator)
    iterator.reset()
    assert len(next(iterator)) == 2


def test_multi_node_iterator_shuffles_alike_and_is_serialized(comm, tmp_path):
    iterator = create_multi_node_iterator(SerialIterator(np.arange(10), 3), comm)
    next(iterator)
    chainer.serializers.save_npz(tmp_path / "iterator", iterator)
    following = [int(x) for x in next(iterator)]
    assert comm.allgather_obj(following) == [following] * comm.size
    chainer.serializers.load_npz(tmp_path / "iterator", iterator)
    assert iterator.current_position == 3
    assert [int(x) for x in next(iterator)] == following


def test_multi_node_iterator_refuses_other_examples(comm):
    iterator = create_multi_node_iterator(SerialIterator(["a", "b"], 1), comm)
    with pytest.raises(TypeError, match="got str"):
        next(iterator)


def test_synchronized_iterator(comm):
    iterator = SerialIterator(np.arange(20), 4)
    assert create_synchronized_iterator(iterator, comm) is iterator
    for _ in range(12):  # more than two epochs
        batch = [int(x) for x in next(iterator)]
        assert comm.allgather_obj(batch) == [batch] * comm.size
    with pytest.raises(ValueError, match="order_sampler"):
        create_synchronized_iterator(iter([1]), comm)


def test_any_file_of_a_multi_node_iterator_resumes(comm, tmp_path):
    """All processes save the order of the examples, whichever of them reads."""
    master = comm.size - 1
    iterator = create_multi_node_iterator(SerialIterator(np.arange(10), 4), comm, master)
    for _ in range(4):  # into the second epoch
        next(iterator)
    chainer.serializers.save_npz(tmp_path / "iterator", iterator)
    data = comm.bcast_obj((tmp_path / "iterator").read_bytes())
    following = [[int(x) for x in next(iterator)] for _ in range(4)]
    (tmp_path / "first").write_bytes(data)
    other = create_multi_node_iterator(SerialIterator(np.arange(10), 4), comm, master)
    chainer.serializers.load_npz(tmp_path / "first", other)
    assert (other.epoch, other.current_position) == (1, 6)
    assert [int(x) for x in next(other)] == following[0]
    assert f"rank {master} reads" in repr(other) or comm.rank == master


def test_multi_node_iterator_over_a_stream(comm):
    class Stream(chainer.dataset.Iterator):
        epoch, is_new_epoch = 3, False

        def __next__(self):
            return [np.float32(1)]

    iterator = create_multi_node_iterator(Stream(), comm)
    assert next(iterator) == [1]
    assert (iterator.epoch, iterator.is_new_epoch, iterator.dataset_size) == (3, False, None)
    assert not hasattr(iterator, "current_position")
