"""Marks of random numbers change if, and only if, a number was drawn."""

from __future__ import annotations

import numpy as np
import pytest

from chainer.backends.numpy import random_marks
from chainer.backends.numpy.random_marks import RandomMarks, mark

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
