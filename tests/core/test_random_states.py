"""Seeds and states of the random generators."""

import random

import numpy as np
import pytest

import chainer
from chainer.core.arrays.random_states import random_states, set_random_states


def draw():
    strict = chainer.get_device("@strict")
    with chainer.using_device(strict):
        drawn = strict.backend.random(strict).standard_normal((2,))
    host = strict.backend.to_host(drawn)
    return [random.random(), np.random.rand(), np.random.randn(), *host.tolist()]


def test_a_seed_repeats_all_generators():
    chainer.utils.seed(7)
    first = draw()
    chainer.utils.seed(np.int64(7))
    assert draw() == first
    chainer.utils.seed(8)
    assert not set(draw()) & set(first)


def test_states_repeat_all_generators():
    chainer.utils.seed(1)
    draw()  # also leaves a number of the normal distribution in stock
    states = random_states()
    first = draw()
    draw()
    set_random_states(states)
    assert draw() == first


def test_reading_the_states_draws_nothing_from_python_and_numpy():
    chainer.utils.seed(1)
    expected = random.random(), np.random.rand()
    chainer.utils.seed(1)
    random_states()
    assert (random.random(), np.random.rand()) == expected


@pytest.mark.parametrize("n", [-1, 2**32])
def test_out_of_range(n):
    with pytest.raises(ValueError, match=r"n must be from 0 to 2\*\*32 - 1"):
        chainer.utils.seed(n)


@pytest.mark.parametrize("n", [1.0, "1", None, True])
def test_not_an_integer(n):
    with pytest.raises(TypeError, match="n must be an integer"):
        chainer.utils.seed(n)


class WithoutStates:
    """A generator as CuPy's: it can be seeded, but its state cannot be read."""

    def __init__(self):
        self._random = np.random.RandomState(3)
        self.seed = self._random.seed
        self.randint = self._random.randint


def test_a_generator_without_a_readable_state_is_seeded_by_itself():
    numpy_backend = chainer.get_device("@numpy").backend
    random_source = WithoutStates()

    class Backend(type(numpy_backend)):
        name = "without_states"

        def random(self, device):
            return random_source

    backend = Backend()
    device = backend.device()
    state = backend.random_state(device)
    first = random_source.randint(0, 1000, 5)
    random_source.randint(0, 1000, 5)
    backend.set_random_state(state, device)
    np.testing.assert_array_equal(random_source.randint(0, 1000, 5), first)


def test_states_are_small():
    assert random_states().dtype == np.uint8
    # Generators of Python, NumPy, the strict backend, and of libraries that are imported.
    assert random_states().nbytes < 24_000
