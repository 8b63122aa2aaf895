"""Without a graph, views are made without a node. They equal the views that a node makes."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import capture, function_hooks


def _outcome(call):
    """Returns the value of a call, or its error as type and text."""
    try:
        y = call()
    except Exception as error:
        return type(error), str(error)
    assert type(y) is chainer.Variable
    return y.array.tolist(), y.dtype, y.shape, y.requires_grad, y.creator is None


def _as_in_a_graph(call):
    with chainer.no_backprop_mode():
        found = _outcome(call)
    expected = _outcome(call)
    if len(expected) == 5:
        # Only a graph has creators.
        expected = (*expected[:4], True)
    assert found == expected


SHAPES = [
    (6,), (3, 2), (1, 6, 1), [6], (np.int64(2), 3), (-1,), (2, -1), (2, 3), (5,), (4, -1), (-1, -1),
    (-2, -3), (0,), (), (2.0, 3), ("a",), (2, 3, 0), (-6,),
]  # fmt: skip


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reshape(shape, requires_grad):
    x = chainer.Variable(np.arange(6, dtype="f").reshape(2, 3), requires_grad=requires_grad)
    _as_in_a_graph(lambda: F.reshape(x, shape))
    if len(shape) != 1 or shape[0] != 0:
        _as_in_a_graph(lambda: F.reshape(x.array.T, shape))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, -1), (1,)])
def test_reshape_of_nothing(shape):
    x = chainer.Variable(np.empty((0, 3), "f"))
    _as_in_a_graph(lambda: F.reshape(x, shape))


@pytest.mark.parametrize("has_graph", [True, False])
@pytest.mark.parametrize("shape", ["ab", 4, None, (2, "b"), (2.5, 2)], ids=str)
def test_shape_that_is_not_a_tuple_of_integers(shape, has_graph):
    x = chainer.Variable(np.ones((2, 2), "f"))
    error = pytest.raises(TypeError, match=r"reshape: shape must be a tuple of integers, got .+")
    with chainer.using_config("enable_backprop", has_graph), error:
        F.reshape(x, shape)


INDEXES = [
    0, -1, slice(1), slice(None, None, -1), (0, 1), (slice(None), 2), (..., 0), None, (0, None), 2,
    (0, 0, 0), [0, 1], np.array([1, 0, 1]), np.array([[True, False, True]] * 2), np.int64(1), (),
    True, ([0, 1], [2, 0]), "a", 0.5, slice(0), np.array([5]),
]  # fmt: skip


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("index", INDEXES, ids=str)
def test_get_item(index, requires_grad):
    x = chainer.Variable(np.arange(6, dtype="f").reshape(2, 3), requires_grad=requires_grad)
    _as_in_a_graph(lambda: x[index])
    _as_in_a_graph(lambda: F.get_item(x, index))


def test_views_share_memory():
    x = chainer.Variable(np.arange(6, dtype="f"))
    with chainer.no_backprop_mode():
        assert np.shares_memory(F.reshape(x, (2, 3)).array, x.array)
        assert np.shares_memory(x[1:].array, x.array)


@pytest.mark.parametrize(
    ("call", "label"), [(lambda x: F.reshape(x, (3, 2)), "Reshape"), (lambda x: x[0], "GetItem")]
)
def test_hooks_see_them(call, label):
    x = chainer.Variable(np.zeros((2, 3), "f"))
    hook = function_hooks.TimerHook()
    with chainer.no_backprop_mode(), hook:
        call(x)
    assert list(hook.summary()) == [label]


@pytest.mark.parametrize("call", [lambda x: F.reshape(x, (3, 2)), lambda x: x[:, 1:]])
@pytest.mark.parametrize("name", ["debug", "type_check"])
def test_uncommon_settings(call, name):
    x = chainer.Variable(np.ones((2, 3), "f"))
    with chainer.using_config(name, name == "debug"):
        _as_in_a_graph(lambda: call(x))
    x.array[:] = np.nan
    if name == "debug":
        error = pytest.raises(RuntimeError, match="NaN is detected")
        with chainer.using_config("debug", True), chainer.no_backprop_mode(), error:
            call(x)


def test_layouts_are_refused_as_in_a_graph():
    x = chainer.Variable(
        np.zeros((2, 4, 5, 3), "f"), layout=chainer.memory_layouts.CUDNN_CHANNEL_LAST_X
    )
    _as_in_a_graph(lambda: F.reshape(x, (6, 20)))
    _as_in_a_graph(lambda: x[0])


def test_subclasses_and_parameters():
    parameter = chainer.Parameter(np.arange(6, dtype="f").reshape(2, 3))
    _as_in_a_graph(lambda: F.reshape(parameter, (6,)))
    _as_in_a_graph(lambda: parameter[1])


def test_captured_steps_see_them():
    @capture
    def step(x):
        with chainer.no_backprop_mode():
            y = F.reshape(chainer.Variable(x), (3, 2))[1:]
            return F.sum(y * y).array

    for i in range(5):
        x = np.arange(6, dtype="f").reshape(2, 3) + i
        expected = np.square(x.reshape(3, 2)[1:]).sum()
        assert float(step(x)) == expected


def test_strict_backend():
    device = chainer.get_device("@strict")
    x = chainer.Variable(device.send(np.arange(6, dtype="f").reshape(2, 3)))
    with chainer.no_backprop_mode():
        y, z = F.reshape(x, (3, 2)), x[1]
    assert y.device == z.device == device
    np.testing.assert_array_equal(
        chainer.get_device("@numpy").send(y.array), [[0, 1], [2, 3], [4, 5]]
    )
    np.testing.assert_array_equal(chainer.get_device("@numpy").send(z.array), [3, 4, 5])
