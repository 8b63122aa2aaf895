"""Integers and booleans have no gradients, as in release 7.8.1."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable


@pytest.mark.parametrize("dtype", ["i", "q", "B", "?"])
def test_integers_get_no_gradient(dtype):
    x = Variable(np.arange(3).astype(dtype))
    F.sum(F.cast(x, "f") * 0.5).backward()
    assert x.grad is None
    with pytest.warns(UserWarning, match="all gradients are None"):
        assert chainer.grad([F.sum(F.cast(x, "f") * 0.5)], [x]) == [None]


@pytest.mark.parametrize("dtype", ["i", "?"])
def test_no_gradient_passes_through_integers(dtype):
    x = Variable(np.array([0.5, 2.5], "f"))
    y = F.cast(F.cast(x, dtype), "f")
    F.sum(y * x).backward()
    np.testing.assert_array_equal(x.grad, y.array)
    (gx,) = chainer.grad([F.sum(F.cast(F.cast(x, dtype), "f") * x)], [x], None, None, False, True)
    np.testing.assert_array_equal(gx.array, y.array)


@pytest.mark.parametrize("dtype", ["i", "?"])
def test_no_tangent_passes_through_integers(dtype):
    x, t = np.array([1.5], "f"), np.array([3.7], "f")
    y, ty = chainer.jvp(lambda x: F.cast(F.cast(x, dtype), "f") + x, (x,), (t,))
    np.testing.assert_array_equal(y.array, x.astype(dtype) + x)
    np.testing.assert_array_equal(ty.array, t)


def test_floating_point_numbers_keep_their_gradients():
    x = Variable(np.array([0.5, 2.5], np.float16))
    (gx,) = chainer.grad([F.sum(F.cast(x, "d") ** 2)], [x], enable_double_backprop=True)
    assert gx.dtype == np.float16
    np.testing.assert_array_equal(gx.array, [1, 5])
    (ggx,) = chainer.grad([F.sum(gx)], [x])
    np.testing.assert_array_equal(ggx.array, [2, 2])


@pytest.mark.parametrize("device", ["@numpy", "@strict:1"])
def test_the_tangent_of_a_cast_leaves_its_node_alone(device):
    device = chainer.get_device(device)
    x, v = (chainer.Variable(device.send(np.array(a, "f"))) for a in ([1, 2], [3, 5]))

    def gradient(x):
        (gx,) = chainer.grad([F.sum(F.cast(x, "d") ** 3)], [x], enable_double_backprop=True)
        return gx

    y, tangent = chainer.jvp(gradient, (x,), (v,))
    np.testing.assert_allclose(chainer.backend.CpuDevice().send(y.array), [3, 12])
    np.testing.assert_allclose(chainer.backend.CpuDevice().send(tangent.array), [18, 60])
