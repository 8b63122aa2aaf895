"""Views of memory; numbers of release 7.8.1 unless something else is said."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable
from chainer.functions.array import as_strided as module

X = np.arange(4, dtype=np.float32)
BASE = np.arange(12, dtype=np.float32).reshape(3, 4)
OVERLAPPING = np.lib.stride_tricks.as_strided(X, (3, 2), (4, 4))


def test_shares_memory():
    y = F.as_strided(X, [2, 2], [1, 1])
    assert np.shares_memory(y.array, X)
    assert y.array.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("x", "arguments", "expected"),
    [
        (BASE[1:, 1:], ((2, 2), (4, 1)), [[5, 6], [9, 10]]),
        (BASE[1:, 1:], ((2, 2), (4, 1), 0), [[0, 1], [4, 5]]),
        (BASE[1:, 1:], ((3,), (-1,)), [5, 4, 3]),
        (X.reshape(2, 2).T, ((2, 2), (2, 1)), [[0, 1], [2, 3]]),
        (X[::-1], ((2,), (1,), 0), [0, 1]),
        (X, ((4,), (-1,), 3), [3, 2, 1, 0]),
        (X, ((3,), (0,), 1), [1, 1, 1]),
        (OVERLAPPING, ((4,), (1,), 0), [0, 1, 2, 3]),
        (np.arange(4), ((2, 2), (1, 1)), [[0, 1], [1, 2]]),
        (X[:0], ((0,), (1,), 0), []),
    ],
)
def test_views_of_views(x, arguments, expected):
    y = F.as_strided(x, *arguments)
    assert y.dtype == x.dtype
    assert y.array.tolist() == expected


def test_memory_of_other_objects():
    """Release 7 fails here (AttributeError), or reads elements of the dtype of the owner."""
    memory = np.arange(4, dtype=np.float32).tobytes()
    y = F.as_strided(np.frombuffer(memory, np.float32)[1:], (2,), (2,), 0)
    assert y.array.tolist() == [0, 2]
    halves = np.arange(4, dtype=np.float64).view(np.float32)
    y = F.as_strided(halves[4:], (4,), (1,), 0)
    assert y.array.tolist() == halves[:4].tolist()


@pytest.mark.parametrize(
    ("x", "arguments", "gy", "expected"),
    [
        (X, ((2, 2), (0, 1), 0), [[1, 2], [3, 4]], [4, 6, 0, 0]),
        (X[::-1], ((2, 2), (-1, -1), 3), [[1, 2], [3, 4]], [1, 5, 4, 0]),
        (X.reshape(2, 2).T, ((2, 2), (2, 1), 0), [[1, 2], [3, 4]], [[1, 3], [2, 4]]),
        # Elements of the view that are not in x get no gradient anywhere.
        (BASE[1:, 1:], ((3, 4), (4, 1), 0), BASE, [[5, 6, 7], [9, 10, 11]]),
        # Elements of x that are the same memory share the gradient.
        (OVERLAPPING, ((4,), (1,), 0), [1, 2, 3, 4], [[1, 1], [1, 1.5], [1.5, 4]]),
        (np.broadcast_to(X[:1], (3,)), ((2,), (1,), 0), [5, 7], [5 / 3, 5 / 3, 5 / 3]),
    ],
)
@pytest.mark.parametrize("double", [False, True])
def test_gradients(x, arguments, gy, expected, double):
    x = Variable(x)
    y = F.as_strided(x, *arguments)
    y.grad = np.array(gy, np.float32)
    y.backward(enable_double_backprop=double)
    np.testing.assert_allclose(x.grad, expected)


def test_gradient_of_the_gradient():
    """Release 7 has none."""
    x, gy, ggx = Variable(OVERLAPPING), Variable(X * 1), np.arange(6, dtype="f").reshape(3, 2)
    y = F.as_strided(x, (4,), (1,), 0)
    (gx,) = chainer.grad([y], [x], [gy], enable_double_backprop=True)
    (ggy,) = chainer.grad([gx], [gy], [Variable(ggx)])
    # The matrix of a linear map is that of its adjoint, transposed.
    np.testing.assert_allclose((ggy.array * gy.array).sum(), (gx.array * ggx).sum(), rtol=1e-6)


def test_integers_have_no_gradient():
    x = Variable(np.arange(4))
    y = F.as_strided(x, (2, 2), (1, 1))
    y.grad = np.ones((2, 2), int)
    with pytest.raises(TypeError, match="Only float is supported for back propagation"):
        y.backward()


def test_arguments_that_are_no_integers():
    with pytest.raises(TypeError):
        F.as_strided(X, (2,), (1.0,))
    with pytest.raises(TypeError):
        F.as_strided(X, 3, 1)


def test_unknown_memory():
    strict = chainer.get_device("@strict:0")
    x = strict.send(BASE)
    with strict:
        assert F.as_strided(x, (2, 2), (4, 1), 5).shape == (2, 2)
        for view in (x[1:], x.T):
            with pytest.raises(TypeError, match="memory layout is known"):
                F.as_strided(view, (2,), (1,))


def test_classes():
    geometry = module.TensorGeometry(BASE[1:, 1:])
    assert (geometry.shape, geometry.strides) == ((2, 3), (4, 1))
    assert (geometry.ndim, geometry.itemsize, geometry.storage_offset) == (2, 4, 5)
    node = F.as_strided(Variable(X), (2,), (1,)).creator
    assert (node.label, node.shape, node.strides, node.storage_offset) == (
        "AsStrided",
        (2,),
        (1,),
        0,
    )
    gradient = module.AsStridedGrad(module.TensorGeometry(X), (2, 2), (1, 1), 0)
    assert gradient.apply((np.ones((2, 2), "f"),))[0].array.tolist() == [1, 2, 1, 0]
    assert module._stride_array(X, (2, 2), (1, 1), 0).tolist() == [[0, 1], [1, 2]]
