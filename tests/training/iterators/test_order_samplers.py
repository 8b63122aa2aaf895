import numpy as np
import pytest

from chainer.iterators import OrderSampler, ShuffleOrderSampler
from chainer.training.iterators.order_samplers import example_seeds, random_key


def test_key_depends_on_the_state_of_numpy_and_leaves_it_alone():
    np.random.seed(0)
    first = random_key()
    assert (random_key() == first).all()
    assert np.random.rand() == 0.5488135039273248
    assert (random_key() != first).any()
    np.random.seed(0)
    assert (random_key() == first).all()


def test_example_seeds_depend_on_the_position_not_on_the_batch():
    key = np.arange(4, dtype=np.uint32)
    seeds = example_seeds(key, 2, 0, 1000)
    assert example_seeds(key, 2, 10, 5) == seeds[10:15]
    assert len(set(seeds)) == 1000
    assert all(0 <= seed < 1 << 32 for seed in seeds)
    assert not set(seeds) & set(example_seeds(key, 3, 0, 1000))
    assert not set(seeds) & set(example_seeds(key + 1, 2, 0, 1000))
    assert abs(np.mean(seeds) / 2**32 - 0.5) < 0.05
    assert example_seeds(key, 2, 0, 2) == [3415482794, 1270365629]


def test_shuffle_order_sampler():
    order = np.arange(10)
    with pytest.raises(NotImplementedError, match="__call__"):
        OrderSampler()(order, 0)
    for seed in (3, np.int64(3), np.random.RandomState(3)):
        sampler = ShuffleOrderSampler(seed)
        expected = np.random.RandomState(3).permutation(10)
        np.testing.assert_array_equal(sampler(order, 0), expected)


def test_shuffle_order_sampler_draws_from_the_global_generator_as_release_7():
    np.random.seed(9)
    sampler = ShuffleOrderSampler()
    orders = [np.arange(7)]
    for _ in range(3):
        orders.append(sampler(orders[-1], 0))
    # Computed with release 7.8.1.
    assert [order.tolist() for order in orders[1:]] == [
        [5, 1, 2, 3, 0, 4, 6],
        [5, 6, 2, 0, 3, 4, 1],
        [2, 6, 4, 1, 3, 5, 0],
    ]
    before = np.random.get_state()[1:3]
    sampler.serialize(None)
    after = np.random.get_state()[1:3]
    np.testing.assert_array_equal(before[0], after[0])


def test_shuffle_order_sampler_does_not_depend_on_the_current_order():
    first, second = (ShuffleOrderSampler(5)(order, 0) for order in (np.arange(4), np.ones(4, int)))
    np.testing.assert_array_equal(first, second)
