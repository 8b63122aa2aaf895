"""What all iterators do."""

import copy
import gc
import operator
import pickle

import numpy as np
import pytest

from chainer import iterators, serializers
from chainer.dataset import Iterator, tabular
from chainer.datasets import SubDataset, TransformDataset, TupleDataset


def multiprocess(dataset, batch_size, **kwargs):
    return iterators.MultiprocessIterator(dataset, batch_size, n_processes=2, **kwargs)


def multithread(dataset, batch_size, **kwargs):
    return iterators.MultithreadIterator(dataset, batch_size, n_threads=2, **kwargs)


MAKERS = {"serial": iterators.SerialIterator, "thread": multithread, "process": multiprocess}


@pytest.fixture(params=MAKERS)
def make(request):
    made = []

    def make(*args, **kwargs):
        made.append(MAKERS[request.param](*args, **kwargs))
        return made[-1]

    make.other = [maker for name, maker in MAKERS.items() if name != request.param]
    yield make
    for iterator in made:
        iterator.finalize()


def take(iterator, n):
    return [iterator.next() for _ in range(n)]


def take_examples(iterator, n):
    return [example for batch in take(iterator, n) for example in batch]


def saved(iterator):
    target = {}
    serializers.DictionarySerializer(target).save(iterator)
    return {key: np.array(array) for key, array in target.items()}


def load(iterator, target, **kwargs):
    serializers.NpzDeserializer(target, **kwargs).load(iterator)
    return iterator


def test_sequential_batches(make):
    iterator = make(list(range(5)), 2, shuffle=False)
    assert (iterator.epoch, iterator.epoch_detail, iterator.is_new_epoch) == (0, 0.0, False)
    assert iterator.previous_epoch_detail is None
    seen = []
    for _ in range(5):
        batch = next(iterator)
        assert isinstance(batch, list)
        assert iterator.batch_size == 2
        seen.append(
            (batch, iterator.epoch, iterator.current_position, iterator.is_new_epoch)
            + (iterator.epoch_detail, iterator.previous_epoch_detail)
        )
    # as in 4.3.1 and 7.8.1
    assert seen == [
        ([0, 1], 0, 2, False, 0.4, 0.0),
        ([2, 3], 0, 4, False, 0.8, 0.4),
        ([4, 0], 1, 1, True, 1.2, 0.8),
        ([1, 2], 1, 3, False, 1.6, 1.2),
        ([3, 4], 2, 0, True, 2.0, 1.6),
    ]


def test_without_repeat(make):
    iterator = make(list(range(5)), 2, shuffle=False, repeat=False)
    assert iterator.repeat is False
    assert list(iterator) == [[0, 1], [2, 3], [4]]
    assert (iterator.epoch, iterator.current_position, iterator.is_new_epoch) == (1, 0, True)
    assert iterator.epoch_detail == 1.0
    for _ in range(2):
        with pytest.raises(StopIteration):
            iterator.next()


def test_batch_larger_than_the_dataset(make):
    iterator = make(list(range(5)), 12, shuffle=False)
    assert iterator.next() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    assert (iterator.epoch, iterator.current_position) == (2, 2)
    assert iterator.next() == [2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3]
    iterator = make([1], 3, repeat=False)
    assert list(iterator) == [[1]]


def test_each_epoch_is_a_permutation(make):
    iterator = make(list(range(10)), 3)
    numbers = take_examples(iterator, 20)
    epochs = [numbers[i : i + 10] for i in range(0, 60, 10)]
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    assert len(set(map(tuple, epochs))) == 6


# Computed with release 7.8.1: five epochs after numpy.random.seed(0), and the next random number.
ORDERS_OF_7 = {
    (10, 3): (
        [2, 8, 4, 9, 1, 6, 7, 3, 0, 5, 3, 5, 1, 2, 9, 8, 0, 6, 7, 4, 2, 3, 8, 4, 5, 1, 0, 6, 9, 7]
        + [6, 1, 9, 2, 7, 5, 8, 0, 3, 4, 5, 2, 7, 4, 1, 0, 6, 8, 9, 3, 1],
        0.13521817340545206,
    ),
    (4, 6): (
        [2, 3, 1, 0, 0, 2, 1, 3, 3, 0, 2, 1, 1, 0, 2, 3, 1, 2, 3, 0, 0, 3, 2, 1],
        0.3927847961008297,
    ),
}


@pytest.mark.parametrize("sizes", ORDERS_OF_7)
@pytest.mark.parametrize("sampler", [None, iterators.ShuffleOrderSampler])
def test_orders_are_those_of_release_7_for_five_epochs(make, sizes, sampler):
    orders, then = ORDERS_OF_7[sizes]
    np.random.seed(0)
    iterator = make(list(range(sizes[0])), sizes[1], order_sampler=sampler and sampler())
    assert take_examples(iterator, len(orders) // sizes[1]) == orders
    if isinstance(iterator, iterators.SerialIterator):  # the others have drawn more orders
        assert np.random.rand() == pytest.approx(then, rel=1e-12)


def test_an_order_is_drawn_at_the_end_without_repeat_as_in_release_7(make):
    for _ in range(2):
        np.random.seed(0)
        assert len(list(make(list(range(10)), 3, repeat=False))) == 4
        assert np.random.rand() == 0.8121687287754932


def test_making_an_iterator_draws_the_first_order_only(make):
    np.random.seed(0)
    np.random.permutation(10)
    expected = np.random.rand()
    np.random.seed(0)
    make(list(range(10)), 4)
    assert np.random.rand() == expected


@pytest.mark.parametrize("at", [0, 1, 3, 4, 5, 11])
@pytest.mark.parametrize(("size", "shuffle"), [(10, True), (10, False), (3, True)])
def test_resumed_iterator_goes_on_as_an_uninterrupted_one(make, at, size, shuffle):
    dataset = list(range(size))
    iterator = make(dataset, 4, shuffle=shuffle)
    take(iterator, at)
    state = saved(iterator)
    generator = np.random.get_state()  # a part of the snapshot of a trainer
    expected = [
        (iterator.next(), iterator.epoch, iterator.is_new_epoch, iterator.epoch_detail)
        for _ in range(12)
    ]
    for maker in (make, *make.other):
        other = maker(dataset, 4, shuffle=shuffle)
        take(other, 2)
        load(other, state)
        np.random.set_state(generator)
        names = saved(other).keys() ^ state.keys()
        assert names <= {"order", "_order", "random_key"}
        assert other.previous_epoch_detail == (
            None if at == 0 else pytest.approx((at - 1) * 4 / size)
        )
        actual = [
            (other.next(), other.epoch, other.is_new_epoch, other.epoch_detail) for _ in range(12)
        ]
        assert actual == expected
        other.finalize()


def test_an_order_that_was_drawn_ahead_is_kept_when_its_batch_is_given_up(make):
    np.random.seed(0)
    iterator = make(list(range(4)), 2)
    take(iterator, 1)
    iterator.finalize()  # the second batch was read ahead, with the order after it
    assert take_examples(iterator, 7) == ORDERS_OF_7[4, 6][0][2:16]


class EpochOfThree(iterators.SerialIterator):
    """An iterator of a program that looks at the state under the names of release 7."""

    _epoch_size = 3

    def skip(self):
        self._state = self._state._replace(current_position=2, epoch=1)
        return self._state.order


def test_state_of_release_7_in_a_subclass():
    iterator = EpochOfThree(list(range(10)), 2, shuffle=False)
    iterator.next()
    assert iterator.epoch_detail == pytest.approx(2 / 3)
    assert iterator.skip() is None
    assert (iterator.epoch, iterator.current_position) == (1, 2)
    iterator = iterators.SerialIterator(list(range(10)), 2)
    assert iterator._epoch_size == 10
    assert sorted(iterator._state.order) == list(range(10))
    assert isinstance(iterator.order_sampler, iterators.ShuffleOrderSampler)
    assert iterator._previous_epoch_detail == -1.0


def test_saved_entries(make):
    iterator = make(list(range(10)), 4)
    state = saved(iterator)
    order = "_order" if "_order" in state else "order"
    assert set(state) == {
        *("current_position", "epoch", "is_new_epoch", "previous_epoch_detail", order),
        *(["random_key"] if isinstance(iterator, iterators.MultiprocessIterator) else ()),
    }
    ordered = saved(make(list(range(10)), 4, shuffle=False))
    # The MultithreadIterator of 7.8.1 cannot load a file without the entry.
    assert set(ordered) == set(state) - ({"order"} & {order})
    # None is saved as -1, as in 4.3.1 and 7.8.1
    assert state["previous_epoch_detail"] == -1
    assert state["is_new_epoch"].dtype == bool


def test_files_of_earlier_releases_lack_some_entries(make):
    state = {
        **{"current_position": np.array(6), "epoch": np.array(1), "is_new_epoch": np.array(False)},
        "order": np.arange(9, -1, -1),
    }
    iterator = load(make(list(range(10)), 2), state)
    assert iterator.previous_epoch_detail == 1.4
    assert iterator.next() == [3, 2]
    iterator = load(make(list(range(10)), 2), {**state, "previous_epoch_detail": np.array(None)})
    assert iterator.previous_epoch_detail is None


def test_state_of_a_dataset_of_another_size_is_refused(make):
    state = saved(make(list(range(10)), 2))
    with pytest.raises(ValueError, match=r"order' must be \(8,\)"):
        load(make(list(range(8)), 2), state)


def test_incomplete_state(make):
    state = saved(make(list(range(10)), 2))
    del state["epoch"]
    with pytest.raises(KeyError, match="epoch"):
        load(make(list(range(10)), 2), state)
    iterator = make(list(range(10)), 2, shuffle=False)
    load(iterator, {"epoch": np.array(3)}, strict=False)
    assert (iterator.epoch, iterator.current_position) == (3, 0)


def test_reset(make):
    iterator = make(list(range(5)), 2, shuffle=False, repeat=False)
    for n in (0, 1, 3):
        take(iterator, n)
        iterator.reset()
        assert (iterator.epoch, iterator.current_position, iterator.is_new_epoch) == (0, 0, False)
        assert iterator.previous_epoch_detail is None
    assert list(iterator) == [[0, 1], [2, 3], [4]]
    iterator.reset()
    assert list(iterator) == [[0, 1], [2, 3], [4]]


def test_attributes_that_programs_assign(make):
    # the manual training loop of the documentation resets an iterator so
    iterator = make(list(range(5)), 2, shuffle=False, repeat=False)
    list(iterator)
    iterator.epoch = 0
    iterator.current_position = 0
    iterator.is_new_epoch = False
    iterator._pushed_position = None
    assert list(iterator) == [[0, 1], [2, 3], [4]]
    iterator.epoch = 0
    iterator.current_position = 2
    assert iterator.next() == [2, 3]


def test_copy(make):
    iterator = make(list(range(5)), 2, shuffle=False)
    iterator.next()
    other = copy.copy(iterator)
    assert take(other, 2) == take(iterator, 2) == [[2, 3], [4, 0]]
    assert other.next() == [1, 2]
    assert iterator.epoch_detail == 1.2
    other.finalize()


def test_finalized_iterator_can_go_on(make):
    with make(list(range(5)), 2, shuffle=False) as iterator:
        assert iterator.next() == [0, 1]
    iterator.finalize()
    assert iterator.next() == [2, 3]


class Reverse:
    """Order sampler without a state to save."""

    def __call__(self, current_order, current_position):
        return current_order[::-1]


def test_order_sampler(make):
    iterator = make(list(range(5)), 2, order_sampler=Reverse())
    assert take(iterator, 5) == [[4, 3], [2, 1], [0, 0], [1, 2], [3, 4]]
    iterator.reset()
    assert iterator.next() == [4, 3]


def test_order_sampler_with_repeated_indexes(make):
    iterator = make(
        list("abc"), 2, shuffle=None, order_sampler=lambda order, position: np.array([0, 0, 2, 2])
    )
    assert take(iterator, 3) == [["a", "a"], ["c", "c"], ["a", "a"]]
    assert (iterator.epoch, iterator.epoch_detail) == (1, 1.5)


@pytest.mark.parametrize("random_state", [7, np.random.RandomState(7), np.random.default_rng(7)])
@pytest.mark.parametrize("at", [0, 2, 3, 7])
def test_state_of_an_order_sampler_is_saved(make, random_state, at):
    random_state = copy.deepcopy(random_state)
    iterator = make(list(range(5)), 2, order_sampler=iterators.ShuffleOrderSampler(random_state))
    take(iterator, at)
    state = saved(iterator)
    expected = take(iterator, 9)
    sampler = iterators.ShuffleOrderSampler(copy.deepcopy(random_state))
    other = load(make(list(range(5)), 2, order_sampler=sampler), state)
    assert take(other, 9) == expected


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.zeros((2, 2), int), "one-dimensional"),
        (np.zeros(2), "integer"),
        ([], "nothing to repeat"),
    ],
)
def test_bad_order_sampler(make, result, message):
    with pytest.raises(ValueError, match=message):
        make(
            [1, 2],
            1,
            order_sampler=lambda order, position: np.array(
                result, ndmin=1, dtype=getattr(result, "dtype", int)
            ),
        ).next()


def test_order_sampler_must_not_change_its_length(make):
    lengths = iter([3, 2])
    iterator = make([1, 2, 3], 3, order_sampler=lambda *args: np.arange(next(lengths)))
    with pytest.raises(ValueError, match="same length, got 3, then 2"):
        take(iterator, 2)


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"batch_size": 0}, ValueError, "batch_size must be positive, got 0"),
        ({"batch_size": 2.5}, TypeError, "batch_size must be an integer"),
        ({"batch_size": 2, "shuffle": False, "order_sampler": Reverse()}, ValueError, "shuffle"),
    ],
)
def test_bad_arguments(make, kwargs, error, message):
    with pytest.raises(error, match=message):
        make([1, 2], **kwargs)


def test_empty_dataset(make):
    assert list(make([], 2, repeat=False)) == []
    iterator = make([], 2)
    assert iterator.epoch_detail == 0.0
    with pytest.raises(ValueError, match="dataset is empty"):
        iterator.next()


@pytest.mark.parametrize("shuffle", [True, False])
def test_kinds_of_datasets(make, shuffle):
    x, t = np.arange(20.0).reshape(10, 2), np.arange(10)
    base = TupleDataset(x, t)
    for dataset in (
        base,
        SubDataset(base, 0, 10),
        TransformDataset(base, lambda e: e),
        list(base[:]),
    ):
        examples = take_examples(make(dataset, 4, shuffle=shuffle), 5)
        assert sorted(int(label) for _, label in examples) == sorted([*range(10)] * 2)
        for row, label in examples:
            np.testing.assert_array_equal(row, x[label])
    examples = take_examples(make(x, 4, shuffle=shuffle), 5)
    assert sorted(row[0] for row in examples) == sorted([*x[:, 0]] * 2)


class Bad:
    """A dataset that fails at example 7, until it is mended."""

    broken = True

    def __len__(self):
        return 10

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(10)[index]]
        if index == 7 and self.broken:
            raise KeyError("bad example 7")
        return index


def test_error_of_the_dataset(make):
    dataset = Bad()
    iterator = make(dataset, 3, shuffle=False)
    assert take(iterator, 2) == [[0, 1, 2], [3, 4, 5]]
    for _ in range(2):
        with pytest.raises(KeyError, match="bad example 7"):
            iterator.next()
        assert iterator.current_position == 6
    dataset.broken = False
    iterator.finalize()
    assert iterator.next() == [6, 7, 8]


class IntegersOnly:
    """Dataset that accepts only integers, as those of other libraries."""

    def __len__(self):
        return 5

    def __getitem__(self, index):
        return 10 * operator.index(index)


def test_datasets_need_not_accept_slices(make):
    assert take(make(IntegersOnly(), 3, shuffle=False), 2) == [[0, 10, 20], [30, 40, 0]]
    pairs = TupleDataset(IntegersOnly(), IntegersOnly())
    assert take(make(pairs, 2, shuffle=False), 1) == [[(0, 0), (10, 10)]]


def test_tabular_dataset(make):
    dataset = tabular.from_data({"x": np.arange(5), "y": list("abcde")})
    (batch,) = take(make(dataset, 2, shuffle=False), 1)
    assert batch == [{"x": 0, "y": "a"}, {"x": 1, "y": "b"}]


@pytest.mark.parametrize("shuffle", [None, False])
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_pickle(make, shuffle, batches):
    iterator = make(list(range(7)), 3, shuffle=shuffle)
    take(iterator, batches)
    copied = pickle.loads(pickle.dumps(iterator))
    try:
        assert copied.epoch_detail == iterator.epoch_detail
        assert copied.previous_epoch_detail == iterator.previous_epoch_detail
        # Pickling does not disturb the original. Both draw later orders from the global generator.
        generator = np.random.get_state()
        expected = take(iterator, 6)
        np.random.set_state(generator)
        assert take(copied, 6) == expected
    finally:
        copied.finalize()


@pytest.mark.parametrize("shuffle", [True, False])
def test_shuffle_and_order_sampler(make, shuffle):
    sampler = iterators.ShuffleOrderSampler()
    with pytest.raises(ValueError, match="shuffle must be None if an order_sampler is given"):
        make([1, 2], 1, shuffle=shuffle, order_sampler=sampler)


def test_saved_order_of_another_dataset(make):
    state = saved(make(list(range(5)), 2))
    with pytest.raises(ValueError, match=r"\(5,\)"):
        load(make(list(range(7)), 2), state)


@pytest.mark.parametrize(
    ("epoch", "position", "expected"), [(0, 0, None), (0, 2, 0.0), (2, 1, 2 + (1 - 3) / 7)]
)
def test_missing_previous_epoch_detail(make, epoch, position, expected):
    state = saved(make(list(range(7)), 3, shuffle=False))
    del state["previous_epoch_detail"]
    state.update(epoch=np.array(epoch), current_position=np.array(position))
    iterator = load(make(list(range(7)), 3, shuffle=False), state)
    assert iterator.previous_epoch_detail == expected


def test_iterator_that_is_garbage_is_finalized():
    class Mine(Iterator):
        finalized = 0

        def finalize(self):
            Mine.finalized += 1

    Mine()
    gc.collect()
    assert Mine.finalized == 1
    with Mine() as iterator:
        pass
    assert Mine.finalized == 2
    del iterator
    gc.collect()
    assert Mine.finalized == 3


def test_iterator_whose_constructor_fails_is_finalized_quietly(make):
    # Warnings are errors here, including those of exceptions in __del__.
    with pytest.raises(ValueError, match="batch_size"):
        make([1, 2], 0)
    gc.collect()


@pytest.mark.parametrize("name", ["MultithreadIterator", "MultiprocessIterator"])
def test_attributes_of_prefetching_iterators_can_be_set(name):
    """As in release 7: ``create_synchronized_iterator`` of ChainerMN sets the sampler."""
    iterator = getattr(iterators, name)(list(range(6)), 2, repeat=False, shuffle=False)
    assert iterator.next() == [0, 1]
    iterator.order_sampler = lambda order, position: np.arange(6)[::-1]
    iterator.reset()
    assert [iterator.next() for _ in range(3)] == [[5, 4], [3, 2], [1, 0]]
    with pytest.raises(StopIteration):
        iterator.next()
    iterator.reset()
    iterator.repeat = True
    assert [iterator.next() for _ in range(4)][-1] == [5, 4]
    iterator.finalize()


def test_state_of_another_dataset_says_so():
    saved = {}
    serializers.DictionarySerializer(saved).save(iterators.SerialIterator(list(range(4)), 2))
    other = iterators.SerialIterator(list(range(6)), 2)
    with pytest.raises(ValueError, match=r"must be \(6,\), .* holds \(4,\)") as caught:
        serializers.NpzDeserializer(saved).load(other)
    assert caught.value.__notes__[0].startswith("The dataset has 6 examples.")
