"""Where the states of optimizers are in memory."""

import copy
import os
import pickle

import numpy as np
import pytest

import chainer
from chainer.training.optimizers.state_memory import zeros_for_state


def place(array):
    return array.ctypes.data % 4096


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
@pytest.mark.parametrize("start", [0, 1, 5])
def test_large_states_begin_as_the_parameter_does_but_elsewhere_in_a_page(dtype, start):
    memory = np.zeros(1 << 18, dtype)
    parameter = memory[start : start + (1 << 17)].reshape(2, -1)
    states = [zeros_for_state(parameter, number) for number in range(3)]
    for state in states:
        assert state.shape == parameter.shape
        assert state.dtype == parameter.dtype
        assert state.flags.c_contiguous
        assert state.flags.aligned
        assert state.flags.writeable
        assert not state.any()
        assert place(state) % 64 == place(parameter) % 64
    places = [place(array) for array in (parameter, *states)]
    assert len({p // 1024 for p in places}) == 4


@pytest.mark.parametrize(
    "parameter",
    [np.ones(3, "f"), np.ones((), "d"), np.ones((0, 5), "e"), np.ones((300, 300), "f", order="F")],
)
def test_other_states_are_those_of_numpy(parameter):
    state = zeros_for_state(parameter, 0)
    assert state.shape == parameter.shape
    assert state.strides == parameter.strides
    assert not state.any()
    assert state.base is None


def test_copies_have_no_more_than_the_state():
    model = chainer.links.Linear(300, 300)
    optimizer = chainer.optimizers.Adam().setup(model)
    model.W.grad = np.ones_like(model.W.array)
    model.b.grad = np.ones_like(model.b.array)
    optimizer.update()
    m = model.W.update_rule.state["m"]
    assert m.base is not None
    for copied in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        np.testing.assert_array_equal(copied, m)
    # The file does not contain the memory around the state either.
    assert len(pickle.dumps(m)) < m.nbytes + 1000


def test_states_of_several_huge_pages_are_zero_and_keep_their_place():
    parameter = np.ones((1500, 1001), "f")
    states = [zeros_for_state(parameter, number) for number in range(2)]
    for number, state in enumerate(states):
        assert not state.any()
        assert (place(state) - place(parameter)) % 4096 == 1024 * (number + 1)
        state += number + 1
    assert (states[0] == 1).all()
    assert (states[1] == 2).all()
    copied = pickle.loads(pickle.dumps(copy.deepcopy(states[1])))
    np.testing.assert_array_equal(copied, states[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_does_not_share_states():
    state = zeros_for_state(np.ones(1 << 20, "f"), 0)
    child = os.fork()
    if child == 0:
        state += 1
        os._exit(0)
    os.waitpid(child, 0)
    assert not state.any()
