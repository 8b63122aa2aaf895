"""Normalizations: running statistics, precision, graphs."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.functions.normalization.batch_renormalization import BatchRenormalizationFunction

RNG = np.random.default_rng(0)


def parameters(*shape, dtype="f"):
    return np.ones(shape, dtype), np.zeros(shape, dtype)


class TestRunningStatistics:
    def test_are_updated_in_place(self):
        x = RNG.normal(size=(4, 3, 2)).astype("f")
        mean, var = np.full(3, 5, "f"), np.full(3, 7, "f")
        F.batch_normalization(x, *parameters(3), running_mean=mean, running_var=var, decay=0.8)
        np.testing.assert_allclose(mean, 4 + 0.2 * x.mean(axis=(0, 2)), rtol=1e-5)
        np.testing.assert_allclose(var, 5.6 + 0.2 * x.var(axis=(0, 2), ddof=1), rtol=1e-5)

    def test_keep_their_dtype(self):
        x = RNG.normal(size=(4, 3)).astype("f")
        for dtype in "efd":
            mean, var = np.zeros(3, dtype), np.ones(3, dtype)
            F.batch_normalization(x, *parameters(3), running_mean=mean, running_var=var)
            np.testing.assert_allclose(mean, 0.1 * x.mean(axis=0), atol=1e-3)
            assert mean.dtype == dtype

    def test_of_one_sample(self):
        mean, var = np.zeros(3, "f"), np.ones(3, "f")
        x = RNG.normal(size=(1, 3)).astype("f")
        with pytest.warns(UserWarning, match="A batch with no more than one sample"):
            F.batch_normalization(x, *parameters(3), running_mean=mean, running_var=var, decay=0.5)
        np.testing.assert_array_equal(var, [0.5, 0.5, 0.5])

    def test_of_an_empty_batch_stay(self):
        mean, var = np.full(3, 5, "f"), np.full(3, 7, "f")
        x = chainer.Variable(np.zeros((0, 3), "f"))
        y = F.batch_normalization(x, *parameters(3), running_mean=mean, running_var=var)
        y.grad = y.array
        y.backward()
        assert x.grad.shape == (0, 3)
        assert (mean.tolist(), var.tolist()) == ([5, 5, 5], [7, 7, 7])

    def test_may_be_variables(self):
        mean, var = chainer.Variable(np.zeros(3, "f")), chainer.Variable(np.ones(3, "f"))
        x = RNG.normal(size=(4, 3)).astype("f")
        F.batch_normalization(x, *parameters(3), running_mean=mean, running_var=var)
        assert mean.array.any()


def test_attributes_of_the_node():
    x = chainer.Variable(RNG.normal(size=(4, 3)).astype("f"))
    f = F.batch_normalization(x, *parameters(3), eps=1e-3).creator
    assert f.label == "BatchNormalization"
    np.testing.assert_allclose(f.mean, x.array.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(f.inv_std, 1 / np.sqrt(x.array.var(axis=0) + 1e-3), rtol=1e-5)


def test_large_mean_costs_no_precision():
    x = (RNG.normal(size=(64, 2, 8)) + 1000).astype("f")
    y = F.batch_normalization(x, *parameters(2)).array
    wide = x.astype("d")
    expected = (wide - wide.mean(axis=(0, 2), keepdims=True)) / wide.std(axis=(0, 2), keepdims=True)
    np.testing.assert_allclose(y, expected, atol=2e-3)


def test_halves_with_parameters_in_single_precision():
    x = chainer.Variable(RNG.normal(size=(4, 3)).astype("e"))
    gamma, beta = map(chainer.Variable, parameters(3))
    y = F.batch_normalization(x, gamma, beta)
    assert y.dtype == np.float16
    y.grad = np.ones_like(y.array)
    y.backward()
    assert (x.grad.dtype, gamma.grad.dtype, beta.grad.dtype) == ("e", "f", "f")
    mean, var = np.zeros(3, "f"), np.ones(3, "f")
    assert F.fixed_batch_normalization(x, gamma, beta, mean, var).dtype == np.float16


def test_removed_argument():
    with pytest.raises(ValueError, match="train argument is not supported anymore. Use chainer"):
        F.batch_normalization(np.ones((4, 3), "f"), *parameters(3), train=True)


class TestBatchRenormalization:
    """Limits, and statistics that belong to the function object."""

    x = RNG.normal(size=(6, 3)).astype("f")
    mean, var = np.array([0.5, 0, 2], "f"), np.array([1, 4, 0.3], "f")

    def test_statistics_are_attributes(self):
        mean, var = self.mean.copy(), self.var.copy()
        f = BatchRenormalizationFunction(2e-5, mean, var, 0.9, 1.5, 0.4, False)
        y = f(self.x, *parameters(3))
        assert isinstance(y, chainer.Variable)
        np.testing.assert_array_equal(mean, self.mean)
        np.testing.assert_array_equal(var, self.var)
        np.testing.assert_allclose(
            f.running_mean, 0.9 * mean + 0.1 * self.x.mean(axis=0), rtol=1e-5
        )
        np.testing.assert_allclose(
            f.running_var, 0.9 * var + 0.1 * self.x.var(axis=0, ddof=1), rtol=1e-5
        )

    def test_wide_limits_give_the_fixed_function(self):
        y = F.batch_renormalization(
            self.x, *parameters(3), 1e6, 1e6, running_mean=self.mean, running_var=self.var
        )
        with pytest.warns(DeprecationWarning, match="Use fixed_batch_normalization instead"):
            fixed = F.fixed_batch_renormalization(self.x, *parameters(3), self.mean, self.var)
        np.testing.assert_allclose(y.array, fixed.array, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("update", [True, False])
    def test_statistics_are_updated_on_request(self, update):
        mean, var = self.mean.copy(), self.var.copy()
        arguments = (2e-5, mean, var, 0.9, update)  # the order of release 7
        y = F.batch_renormalization(self.x, *parameters(3), 1.5, 0.4, *arguments)
        same = F.batch_renormalization(
            self.x, *parameters(3), 1.5, 0.4, running_mean=self.mean, running_var=self.var
        )
        np.testing.assert_array_equal(y.array, same.array)
        if not update:
            np.testing.assert_array_equal(mean, self.mean)
            np.testing.assert_array_equal(var, self.var)
            return
        expected = 0.9 * self.mean + 0.1 * self.x.mean(axis=0)
        np.testing.assert_allclose(mean, expected, rtol=1e-5)
        expected = 0.9 * self.var + 0.1 * self.x.var(axis=0, ddof=1)
        np.testing.assert_allclose(var, expected, rtol=1e-5)

    def test_function_object_updates_in_place(self):
        """As in release 7; in release 4 the attributes have the updated statistics."""
        mean, var = self.mean.copy(), self.var.copy()
        f = BatchRenormalizationFunction(2e-5, mean, var, 0.9, 1.5, 0.4)
        f(self.x, *parameters(3))
        assert f.running_mean is mean
        assert f.running_var is var
        np.testing.assert_allclose(mean, 0.9 * self.mean + 0.1 * self.x.mean(axis=0), rtol=1e-5)

    def test_limits_are_checked(self):
        with pytest.raises(ValueError, match="dmax must not be negative, got -1"):
            F.batch_renormalization(self.x, *parameters(3), 1, -1)


def test_normalizing_zeros():
    x = chainer.Variable(np.array([[3, 4], [0, 0]], "f"))
    y = F.normalize(x)
    np.testing.assert_allclose(y.array, [[0.6, 0.8], [0, 0]], rtol=1e-5)
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_allclose(x.grad, [[0.032, -0.024], [1e5, 1e5]], rtol=1e-3)
    (gx,) = chainer.grad([F.normalize(x)], [x], enable_double_backprop=True)
    (ggx,) = chainer.grad([gx], [x])
    assert np.isfinite(ggx.array).all()


def test_labels():
    x = chainer.Variable(np.ones((2, 3), "f"))
    assert F.layer_normalization(x, *parameters(3)).creator.label == "LayerNormalization"
    assert F.normalize(x).creator.label == "NormalizeL2"
    label = "LocalResponseNormalization"
    assert F.local_response_normalization(x).creator.label == label
    label = "FixedBatchNormalization"
    assert (
        F.fixed_batch_normalization(x, *parameters(3), *parameters(3)[::-1]).creator.label == label
    )
    label = "BatchRenormalizationFunction"
    assert F.batch_renormalization(x, *parameters(3), 2, 1).creator.label == label


@pytest.mark.parametrize("dtype", "efd")
@pytest.mark.parametrize("size", [0, 1, 300])
def test_a_single_vector_is_normalized_as_a_row_of_several(dtype, size):
    rows = (RNG.normal(size=(3, 2 * size)) + 5).astype(dtype)[:, ::2]  # not contiguous
    gamma, beta = (RNG.normal(size=size).astype(dtype) for _ in range(2))
    one, several = chainer.Variable(rows[:1]), chainer.Variable(rows)
    y, ys = (F.layer_normalization(x, gamma, beta) for x in (one, several))
    assert (y.shape, y.dtype) == ((1, size), rows.dtype)
    # A sum of ``size`` terms is off by so many roundings; values are sums of five such numbers.
    exact = max(np.finfo(dtype).eps, 10 * size * np.finfo("f" if dtype == "e" else dtype).eps)
    np.testing.assert_allclose(y.array[0], ys.array[0], rtol=exact, atol=2 * exact)
    # The statistics that backward gets have the shapes of those of several vectors.
    y.grad, ys.grad = y.array, np.where(np.arange(3)[:, None] == 0, ys.array, 0).astype(dtype)
    y.backward()
    ys.backward()
    # Two sums more, of products with numbers up to 4.
    np.testing.assert_allclose(one.grad[0], several.grad[0], rtol=8 * exact, atol=16 * exact)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_single_vector_with_a_number_that_is_not_finite_is_nan(number):
    x = np.array([[1, number, 3]], "f")
    with np.errstate(invalid="ignore"):
        assert np.isnan(F.layer_normalization(x, *parameters(3)).array).all()
