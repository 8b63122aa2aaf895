"""Marks of random numbers change if, and only if, a number was drawn."""

from __future__ import annotations

import numpy as np
import pytest

from chainer.backends.cupy.random_marks import mark as cupy_mark
from chainer.backends.numpy import random_marks
from chainer.backends.numpy.random_marks import RandomMarks, mark
from chainer.core.arrays.device import Device
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.seeded_marks import SeededMarks

DRAWS = {
    "rand": lambda: np.random.rand(),
    "randn": lambda: np.random.randn(),
    "randint": lambda: np.random.randint(0, 10),
    "permutation": lambda: np.random.permutation(3),
    "many": lambda: np.random.rand(624),
    "one of a pair": lambda: np.random.randn(3),
    "binomial": lambda: np.random.binomial(10, 0.5),
    "bytes": lambda: np.random.bytes(4),
}


@pytest.fixture(autouse=True)
def _same_numbers():
    state = np.random.get_state()
    np.random.seed(0)
    yield
    np.random.set_state(state)


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("before", [0, 1, 622, 623, 624])
def test_a_draw_is_noticed(name, before):
    np.random.rand(before)
    first = mark()
    assert mark() == first
    DRAWS[name]()
    assert mark() != first


def test_a_waiting_number_is_noticed():
    np.random.randn()
    first = mark()
    np.random.randn()
    second = mark()
    assert second != first
    assert mark() == second


def test_a_restored_waiting_number_is_noticed():
    np.random.randn()
    state = np.random.get_state()
    np.random.randn()
    mark()
    np.random.set_state(state)
    first = mark()
    np.random.randn()
    assert mark() != first


def test_the_state_is_read_from_memory_on_this_platform():
    """Else the marks would be right, but as slow as ``get_state``."""
    assert isinstance(mark(), bytes)


def test_a_replaced_generator_is_read():
    own = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(1))
        first = mark()["state"]["state"]
        assert mark()["state"]["state"] == first
        np.random.rand()
        assert mark()["state"]["state"] != first
        np.random.set_bit_generator(np.random.MT19937(1))
        first = mark()
        np.random.rand()
        assert mark() != first
    finally:
        np.random.set_bit_generator(own)
    assert isinstance(mark(), bytes)


def test_unknown_layout_reads_the_whole_state(monkeypatch):
    monkeypatch.setattr(random_marks, "_offset_of_pair", lambda: None)
    source = np.random.RandomState(0)
    marks = RandomMarks(source, source._bit_generator)
    first = marks.mark()["has_gauss"]
    source.randn()
    assert (first, marks.mark()["has_gauss"]) == (0, 1)


def test_words_elsewhere_read_the_whole_state():
    class Elsewhere(np.random.MT19937):
        """Its class says nothing about its memory."""

    source = np.random.RandomState(Elsewhere(1))
    assert isinstance(RandomMarks(source, source._bit_generator).mark(), dict)


class Unreadable:
    """A source of random numbers without a method that returns its state."""

    def __init__(self, seed):
        self.seed(seed)

    def seed(self, seed):
        self._source = np.random.RandomState(seed)

    def randint(self, *args, **kwargs):
        return self._source.randint(*args, **kwargs)


class UnreadableBackend(Backend):
    """Has one source of random numbers, for all devices."""

    name = "unreadable"
    xp = np

    def __init__(self):
        super().__init__()
        self.source = Unreadable(1)

    def random(self, device):
        return self.source

    def to_host(self, array):
        return array


@pytest.fixture
def unreadable():
    backend = UnreadableBackend()
    return backend, backend.source


def test_a_draw_from_a_source_that_cannot_be_read(unreadable):
    backend, source = unreadable
    device = backend.device()
    for _ in range(2):
        first = backend.random_mark(device)
        assert [backend.random_mark(device) for _ in range(3)] == [first] * 3
        source.randint(5)
        assert backend.random_mark(device) != first
    numbers = [source.randint(1 << 30) for _ in range(3)]
    assert len({*numbers}) == 3


def test_marks_repeat_no_numbers_after_a_draw(unreadable):
    backend, source = unreadable
    device = backend.device()
    drawn = []
    for _ in range(20):
        backend.random_mark(device)
        drawn.append(source.randint(1 << 30))
    assert len({*drawn}) == len(drawn)


def test_devices_have_marks_of_their_own(unreadable):
    backend, source = unreadable
    devices = [Device(backend, i) for i in range(2)]
    marks = SeededMarks(backend)
    first = marks.mark(devices[0])
    source.randint(5)
    assert marks.mark(devices[1]) != first
    assert set(marks._last) == set(devices)


class FakeState:
    """Has the members of ``cupy.random.RandomState`` that matter here."""

    def __init__(self, seed):
        self._rk_seed = seed

    def _get_seed(self, size):
        self._rk_seed += size
        return self._rk_seed

    def random_sample(self):
        return self._get_seed(1)


def test_draws_of_cupy_are_counted():
    source, other = FakeState(1), FakeState(1)
    first = cupy_mark(source)
    assert cupy_mark(source) == first
    assert source.random_sample() == 2
    assert cupy_mark(source) != first
    assert cupy_mark(other) != first
    assert isinstance(source, FakeState) and type(source) is type(other) is not FakeState
    assert type(source).__name__ == "FakeState" and type(source).__doc__ == FakeState.__doc__
    assert type(FakeState(1)) is FakeState
    for draw in (lambda: source._get_seed(1), lambda: source._rk_seed):
        first = cupy_mark(source)
        draw()
        assert cupy_mark(source) != first
