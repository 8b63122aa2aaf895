"""Shape manipulations: views, shortcuts, method forms."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable
from chainer.utils.type_check import InvalidType


@pytest.fixture
def x() -> Variable:
    return Variable(np.arange(12, dtype="f").reshape(3, 4))


def test_reshape_method_takes_lengths_in_any_form(x):
    for y in (x.reshape(2, 6), x.reshape((2, 6)), x.reshape([2, 6]), x.reshape(2, -1)):
        assert y.shape == (2, 6)
    assert x.reshape(12).shape == (12,)
    assert Variable(np.ones((1, 1), "f")).reshape(()).shape == ()


def test_transpose_method_takes_axes_in_any_form(x):
    for y in (x.T, x.transpose(), x.transpose(None), x.transpose(1, 0), x.transpose([1, 0])):
        assert y.shape == (4, 3)
        np.testing.assert_array_equal(y.array, x.array.T)
    assert x.transpose((0, 1)).shape == (3, 4)


def test_nothing_to_do_returns_the_variable_itself(x):
    assert F.reshape(x, (3, 4)) is x
    assert F.broadcast_to(x, (3, 4)) is x
    assert F.broadcast(x) is x
    # A cast is a node of its own where there is a graph.
    with chainer.no_backprop_mode():
        assert F.cast(x, "f") is x


def test_views_share_memory(x):
    for y in (
        F.reshape(x, (4, 3)),
        F.transpose(x),
        F.expand_dims(x, 0),
        F.squeeze(F.expand_dims(x, 0)),
        *F.split_axis(x, 2, 1),
        *F.separate(x),
        F.swapaxes(x, 0, 1),
    ):
        assert np.shares_memory(y.array, x.array)


def test_reshape_names_what_does_not_fit(x):
    # The text is that of the documentation.
    with pytest.raises(InvalidType) as info:
        F.reshape(x, (5, 5))
    assert str(info.value) == (
        "\nInvalid operation is performed in: Reshape (Forward)\n\n"
        "Expect: prod(x.shape) == prod((5, 5))\nActual: 12 != 25"
    )


def test_split_axis_with_missing_gradients(x):
    first, _, last = F.split_axis(x, [1, 3], axis=1)
    F.sum(first * 2).backward()
    np.testing.assert_array_equal(x.grad, [[2, 0, 0, 0]] * 3)
    x.cleargrad()
    (gx,) = chainer.grad([F.sum(last * last)], [x], enable_double_backprop=True)
    np.testing.assert_array_equal(gx.array, [[0, 0, 0, 2 * r * 4 + 6] for r in range(3)])
    (ggx,) = chainer.grad([F.sum(gx)], [x])
    np.testing.assert_array_equal(ggx.array, [[0, 0, 0, 2]] * 3)


def test_split_axis_force_tuple(x):
    assert isinstance(F.split_axis(x, 1, 0), tuple)
    assert isinstance(F.split_axis(x, 1, 0, force_tuple=False), Variable)
    assert isinstance(F.split_axis(x, 2, 1, force_tuple=False), tuple)


def test_split_axis_at_unsorted_positions(x):
    # Overlapping parts, as numpy.split makes them.
    parts = F.split_axis(x, [3, 1], axis=1)
    assert [part.shape for part in parts] == [(3, 3), (3, 0), (3, 3)]
    F.sum(F.concat(parts, axis=1)).backward()
    np.testing.assert_array_equal(x.grad, [[1, 2, 2, 1]] * 3)


def test_concat_of_an_intermediate_result_keeps_gradients_apart(x):
    y = F.concat([x, x], axis=0)
    gy = y.grad = np.arange(24, dtype="f").reshape(6, 4)
    y.backward()
    np.testing.assert_array_equal(x.grad, gy[:3] + gy[3:])


def test_cast_there_and_back(x):
    y = F.cast(F.cast(x, "e"), "d")
    assert y.dtype == "d"
    F.sum(y * y).backward()
    assert x.grad.dtype == "f"
    np.testing.assert_array_equal(x.grad, 2 * x.array)


def test_broadcast_to_of_large_arrays_is_a_view():
    x = Variable(np.ones((1, 1000), "f"))
    y = F.broadcast_to(x, (1000, 1000))
    assert y.array.strides[0] == 0
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, np.full((1, 1000), 1000))


def test_identity_makes_a_node(x):
    y = F.identity(x)
    assert y is not x
    assert y.array is x.array
    assert y.creator_node.label == "Identity"
    assert F.identity(x, x)[1].array is x.array
