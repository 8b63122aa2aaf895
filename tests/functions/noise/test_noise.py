"""Noise: where it comes from, masks, modes."""

import numpy as np
import pytest

import chainer
import chainer.functions as F

X = np.arange(1, 13, dtype="f").reshape(3, 4)


def test_seed_repeats_a_run():
    # The mask that Chainer 4.3.1 makes of the same seed.
    np.random.seed(0)
    y, mask = F.dropout(X, 0.3, return_mask=True)
    np.random.seed(0)
    expected = (np.random.rand(3, 4) >= 0.3) / np.float32(0.7)
    np.testing.assert_allclose(mask, expected, rtol=1e-6)
    np.testing.assert_array_equal(y.array, X * mask)
    assert mask.dtype == np.float32


def test_mask_can_be_used_again():
    y, mask = F.dropout(X, return_mask=True)
    np.testing.assert_array_equal(F.dropout(X, mask=mask).array, y.array)
    np.testing.assert_array_equal(F.dropout(X, mask=chainer.Variable(mask)).array, y.array)
    with pytest.raises(ValueError, match=r"mask must have a shape that is broadcast to \(3, 4\)"):
        F.dropout(X, mask=mask[:2])
    with pytest.raises(ValueError, match=r"mask must have a shape.*got \(2, 3, 4\)"):
        F.dropout(X, mask=np.ones((2, 3, 4), "f"))


@pytest.mark.parametrize("dtype", ["?", "d", "e", "i"])
def test_mask_of_another_dtype_and_shape(dtype):
    """Masks of whole channels, and masks that NumPy made, as in release 7.8.1."""
    mask = np.array([[1], [0], [1]], dtype)
    x = chainer.Variable(X)
    y, same = F.dropout(x, mask=mask, return_mask=True)
    assert same is mask
    np.testing.assert_array_equal(y.array, X * mask)
    assert y.dtype == (X * mask).dtype
    (gx,) = chainer.grad([y], [x], [chainer.Variable(y.array)])
    np.testing.assert_array_equal(gx.array, X * mask)
    assert gx.dtype == X.dtype


def test_noise_of_another_dtype_and_shape():
    mean, ln_var = chainer.Variable(X), chainer.Variable(np.log(X))
    eps = np.array([0.5, -1, 2, 0])
    y, same = F.gaussian(mean, ln_var, eps=eps, return_eps=True)
    assert same is eps
    assert y.dtype == np.float64
    np.testing.assert_allclose(y.array, X + np.sqrt(X) * eps, rtol=1e-6)
    gradients = chainer.grad([y], [mean, ln_var])
    np.testing.assert_allclose(gradients[1].array, np.sqrt(X) * eps / 2, rtol=1e-6)
    assert [g.dtype for g in gradients] == [X.dtype, X.dtype]


def test_dropout_when_testing():
    x = chainer.Variable(X)
    with chainer.using_config("train", False):
        assert F.dropout(x) is x
        assert F.dropout(x, return_mask=True) == (x, None)
        assert F.dropout(X).array is X


def test_mask_of_a_number_is_an_array():
    y, mask = F.dropout(np.array(2.0, "f"), return_mask=True)
    assert isinstance(mask, np.ndarray)
    assert mask.shape == y.shape == ()


def test_gaussian_noise_can_be_used_again():
    mean, ln_var = np.zeros((2, 3), "f"), np.ones((2, 3), "f")
    y, eps = F.gaussian(mean, ln_var, return_eps=True)
    np.testing.assert_array_equal(F.gaussian(mean, ln_var, eps=eps).array, y.array)
    np.random.seed(0)
    _, eps = F.gaussian(mean, ln_var, return_eps=True)
    np.random.seed(0)
    np.testing.assert_array_equal(eps, np.random.standard_normal((2, 3)).astype("f"))
    with pytest.raises(TypeError, match="gaussian\\(\\) got an unexpected keyword argument 'foo'"):
        F.gaussian(mean, ln_var, foo=1)


def test_gumbel_softmax_is_the_softmax_of_noisy_scores():
    scores = np.log(np.array([[0.2, 0.3, 0.5]], "f"))
    for tau in (0.7, chainer.Variable(np.array([[0.7]], "f"))):
        np.random.seed(0)
        y = F.gumbel_softmax(scores, tau=tau).array
        np.random.seed(0)
        e = np.exp((scores + np.random.gumbel(size=(1, 3))) / 0.7)
        np.testing.assert_allclose(y, e / e.sum(), rtol=1e-5)


def test_zoneout_takes_elements_of_either():
    np.random.seed(0)
    y = F.zoneout(-X, X, 0.7).array
    np.random.seed(0)
    np.testing.assert_array_equal(y, np.where(np.random.rand(3, 4) >= 0.7, X, -X))
    np.testing.assert_array_equal(F.zoneout(-X, X, 0.0).array, X)
    np.testing.assert_array_equal(F.zoneout(-X, X, 1.0).array, -X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        F.zoneout(X, X, foo=1)


class TestSimplifiedDropconnect:
    W, b = np.ones((2, 4), "f"), np.ones(2, "f")

    def test_is_linear_when_testing(self):
        y = F.simplified_dropconnect(X, self.W, self.b, train=False)
        np.testing.assert_allclose(y.array, F.linear(X, self.W, self.b).array)

    def test_masks(self):
        y = F.simplified_dropconnect(chainer.Variable(X), self.W)
        assert y.creator.mask.shape == (3, 2, 4)
        y = F.simplified_dropconnect(chainer.Variable(X), self.W, use_batchwise_mask=False)
        assert y.creator.mask.shape == (2, 4)

    def test_given_mask_is_scaled(self):
        mask = np.array([[1, 0, 0, 0], [0, 0, 0, 1]])
        for given in (mask, mask.astype(bool), chainer.Variable(mask.astype("f"))):
            y = F.simplified_dropconnect(X, self.W, ratio=0.75, mask=given)
            np.testing.assert_allclose(y.array, 4 * X[:, [0, 3]])
            assert y.dtype == np.float32
