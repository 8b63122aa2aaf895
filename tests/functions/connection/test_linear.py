"""Linear function and embedding."""

import numpy as np
import pytest

import chainer
import chainer.functions as F


def test_labels_of_the_graph():
    x, W = chainer.Variable(np.ones((2, 3), "f")), chainer.Variable(np.ones((4, 3), "f"))
    y = F.linear(x, W)
    assert y.creator.label == "LinearFunction"
    gx, gW = chainer.grad([y], [x, W], enable_double_backprop=True)
    assert gx.creator.label == "LinearGradData"
    assert gW.creator.label == "LinearGradWeight"


def test_batch_axes():
    x = np.arange(24, dtype="f").reshape(2, 3, 4)
    W = np.ones((5, 4), "f")
    y = F.linear(x, W, n_batch_axes=2)
    np.testing.assert_array_equal(y.array, np.repeat(x.sum(axis=2)[..., None], 5, axis=2))
    assert F.linear(np.zeros((0, 3, 4), "f"), W, n_batch_axes=2).shape == (0, 3, 5)
    with pytest.raises(ValueError, match="n_batch_axes should be greater than 0"):
        F.linear(x, W, n_batch_axes=0)


def test_weight_of_another_dtype():
    x = chainer.Variable(np.ones((2, 3), "e"))
    W = chainer.Variable(np.ones((4, 3), "f"))
    y = F.linear(x, W)
    assert y.dtype == np.float16
    y.grad = np.ones_like(y.array)
    y.backward()
    assert (x.grad.dtype, W.grad.dtype) == (np.float16, np.float32)


def test_empty_batch_of_images():
    assert F.linear(np.zeros((0, 2, 3), "f"), np.ones((4, 6), "f")).shape == (0, 4)


class TestEmbedID:
    W = np.arange(15, dtype="f").reshape(5, 3)

    def test_gradients_of_repeated_ids_add_up(self):
        ids = np.array([[3, 1, 3], [-1, 3, 4]], "i")
        W = chainer.Variable(self.W)
        y = F.embed_id(ids, W)
        np.testing.assert_array_equal(y.array, self.W[ids])
        gy = y.grad = np.arange(18, dtype="f").reshape(2, 3, 3)
        y.backward()
        expected = np.zeros_like(self.W)
        np.add.at(expected, ids, gy)
        np.testing.assert_array_equal(W.grad, expected)

    def test_ignored_ids_may_lie_outside(self):
        ids = np.array([7, 1, 7], "i")
        W = chainer.Variable(self.W)
        y = F.embed_id(ids, W, ignore_label=7)
        np.testing.assert_array_equal(y.array, [[0, 0, 0], self.W[1], [0, 0, 0]])
        y.grad = np.ones_like(y.array)
        y.backward()
        np.testing.assert_array_equal(W.grad.sum(axis=1), [0, 3, 0, 0, 0])

    def test_gradient_without_any_id(self):
        W = chainer.Variable(self.W)
        y = F.embed_id(np.zeros((0,), "i"), W)
        assert y.shape == (0, 3)
        y.grad = np.zeros((0, 3), "f")
        y.backward()
        np.testing.assert_array_equal(W.grad, np.zeros_like(self.W))

    def test_ids_outside_the_table(self):
        with pytest.raises(IndexError, match="out of bounds"):
            F.embed_id(np.array([5], "i"), self.W)

    def test_debug_mode_refuses_negative_ids(self):
        ids = np.array([0, -1], "i")
        with chainer.using_config("debug", True):
            with pytest.raises(ValueError, match="Each not ignored `x` value need to satisfy"):
                F.embed_id(ids, self.W)
            F.embed_id(ids, self.W, ignore_label=-1)

    def test_label_must_be_an_integer(self):
        with pytest.raises(TypeError, match="ignore_label must be an int or None, got 'a'"):
            F.embed_id(np.array([0], "i"), self.W, ignore_label="a")


def test_gradients_of_gradients_are_linear_functions():
    x, W = (chainer.Variable(np.random.rand(3, n).astype(np.float32)) for n in (4, 4))
    y = F.linear(x, W)
    seed = chainer.Variable(np.random.rand(3, 3).astype(np.float32))
    gx, gW = chainer.grad([y], [x, W], [seed], enable_double_backprop=True)
    by_W, by_seed = chainer.grad([gx], [W, seed], [x], enable_double_backprop=True)
    assert by_W.creator.label == "LinearGradWeight"
    assert by_seed.creator.label == "LinearFunction"
    by_x, by_seed = chainer.grad([gW], [x, seed], [W], enable_double_backprop=True)
    assert by_x.creator.label == "LinearGradData"
    assert by_seed.creator.label == "LinearFunction"
    np.testing.assert_allclose(by_x.array, seed.array @ W.array, rtol=1e-5)
    np.testing.assert_allclose(by_seed.array, x.array @ W.array.T, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_a_column_and_a_row_have_the_bits_of_the_operator(dtype):
    # They are computed by another call, which must not round in another way.
    rng = np.random.default_rng(0)
    x, W = rng.normal(size=(33, 1)).astype(dtype), rng.normal(size=(20, 1)).astype(dtype)
    x[:3], W[:3] = [[-0.0], [np.inf], [np.nan]], [[0], [-0.0], [1e-30]]
    with np.errstate(invalid="ignore"):
        y = F.linear(x, W).array
        np.testing.assert_array_equal(y, x @ W.T)
        known = ~np.isnan(y)
        np.testing.assert_array_equal(np.signbit(y)[known], np.signbit(x @ W.T)[known])
    # The gradient of the input of one unit, and of the weight for one sample.
    x, W, gy = (rng.normal(size=s).astype(dtype) for s in ((9, 7), (1, 7), (9, 1)))
    for rows in (9, 1):
        inputs = [chainer.Variable(x[:rows]), chainer.Variable(W)]
        y = F.linear(*inputs)
        gx, gW = chainer.grad([y], inputs, [chainer.Variable(gy[:rows])])
        np.testing.assert_array_equal(gx.array, gy[:rows] @ W)
        np.testing.assert_array_equal(gW.array, gy[:rows].T @ x[:rows])
