"""Weighted and bucketing order samplers."""

import numpy as np
import pytest

import chainer
from chainer.iterators import BucketOrderSampler, SerialIterator, WeightedOrderSampler


def test_frequencies_follow_the_weights():
    sampler = WeightedOrderSampler([1, 0, 3], n_samples=4000, random_state=0)
    counts = np.bincount(sampler(np.arange(3), 0), minlength=3)
    assert counts[1] == 0 and counts.sum() == 4000
    assert abs(counts[2] / 4000 - 0.75) < 0.03  # four standard deviations
    assert sampler(np.arange(3), 0).max() == 2


def test_batches_have_similar_sizes_and_all_examples():
    sizes = np.random.RandomState(0).randint(1, 100, 103)
    sampler = BucketOrderSampler(sizes, 10, pool=100, random_state=1)
    order = sampler(np.arange(103), 0)
    assert sorted(order) == list(range(103))
    spread = [np.ptp(sizes[order[i : i + 10]]) for i in range(0, 100, 10)]
    assert max(spread) < 30
    assert list(sampler(order, 0)) != list(order)


def test_sizes_of_a_dataset():
    data = [np.zeros(n) for n in (3, 1, 2, 5)]
    order = BucketOrderSampler(data, 2, random_state=0)(np.arange(4), 0)
    batches = {frozenset(order[:2].tolist()), frozenset(order[2:].tolist())}
    assert batches == {frozenset({1, 2}), frozenset({0, 3})}
    pairs = [(each, 0) for each in data]
    by_key = BucketOrderSampler(pairs, 2, random_state=0, key=lambda pair: len(pair[0]))
    assert by_key(np.arange(4), 0).tolist() == order.tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: WeightedOrderSampler(np.ones(6), random_state=seed),
        lambda seed: BucketOrderSampler(np.arange(6), 2, random_state=seed),
    ],
)
def test_an_iterator_goes_on_after_a_snapshot(make, tmp_path):
    def iterator(seed):
        return SerialIterator(list(range(6)), 2, order_sampler=make(seed))

    first, second = iterator(0), iterator(9)
    for _ in range(4):
        first.next()
    chainer.serializers.save_npz(tmp_path / "state", first)
    expected = [first.next() for _ in range(9)]
    chainer.serializers.load_npz(tmp_path / "state", second)
    assert [second.next() for _ in range(9)] == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WeightedOrderSampler([1, -1]), "finite numbers that are not negative"),
        (lambda: WeightedOrderSampler([0.0]), "must not all be zero"),
        (lambda: WeightedOrderSampler([1], n_samples=0), "n_samples must be positive, got 0"),
        (lambda: BucketOrderSampler([1], 0), "batch_size must be positive, got 0"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
