"""Values, gradients and dtypes where releases 4 and 7 differ; the comments give the rows of both.

Most rows follow release 7. Others keep a result that is better than that of either release.
"""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable


def gradient(function, *arrays):
    """Returns the gradients of a sum of outputs."""
    xs = [Variable(np.array(a)) for a in arrays]
    y = function(*xs)
    return [g if g is None else g.array for g in chainer.grad([F.sum(y)], xs)]


ZERO = np.zeros(2, "f")


def test_derivative_of_elu_at_zero_is_alpha():
    assert gradient(lambda x: F.elu(x, 0.5), ZERO)[0].tolist() == [0.5, 0.5]
    (gx,) = gradient(lambda x: F.selu(x, 2.0, 3.0), ZERO)
    np.testing.assert_allclose(gx, [6, 6])


@pytest.mark.parametrize("slope", [0.3, -0.5])
def test_derivative_of_leaky_relu_at_zero_is_the_slope(slope):
    np.testing.assert_allclose(gradient(lambda x: F.leaky_relu(x, slope), ZERO)[0], [slope] * 2)


def test_second_derivative_of_elu_at_zero_is_alpha():
    x = Variable(np.zeros(1))
    (gx,) = chainer.grad([F.elu(x, 0.5)], [x], enable_double_backprop=True)
    np.testing.assert_allclose(chainer.grad([gx], [x])[0].array, [0.5])


def test_derivative_of_clip_at_the_bounds_is_one():
    assert gradient(lambda x: F.clip(x, -1.0, 1.0), np.array([-1.0, 1.0, 2.0]))[0].tolist() == [
        1,
        1,
        0,
    ]


def test_mean_of_halves_is_accurate():
    x = np.full(70000, 2, np.float16)
    y = F.mean(x)
    assert y.dtype == np.float16
    assert float(y.array) == 2.0


def test_gradient_of_reflecting_pad_counts_copies():
    (gx,) = gradient(lambda x: F.pad(x, 1, "reflect"), np.arange(3.0))
    assert gx.tolist() == [1, 3, 1]


def test_contrastive_of_equal_pairs_has_a_gradient_of_zero():
    x = np.ones((2, 3))
    t = np.zeros(2, "i")
    for g in gradient(lambda a, b: F.contrastive(a, b, t), x, x):
        assert np.isfinite(g).all()


def test_huber_loss_of_three_axes():
    x = np.full((2, 2, 2), 3.0)
    (gx, _) = gradient(lambda x, t: F.huber_loss(x, t, 1.0), x, 0 * x)
    np.testing.assert_array_equal(gx, np.ones_like(x))


def test_logsumexp_of_nothing_and_of_minus_infinity():
    with np.errstate(divide="ignore"):
        assert F.logsumexp(np.full(3, -np.inf)).array == -np.inf
        assert F.logsumexp(np.zeros((2, 0)), axis=1).array.tolist() == [-np.inf, -np.inf]


def test_mean_of_nothing_is_nan():
    assert np.isnan(F.mean(np.zeros((2, 0)), axis=1).array).all()


def test_running_variance_of_batch_renormalization_is_without_eps():
    x = np.array([[1.0, 2.0], [3.0, 6.0]])
    mean, var = np.zeros(2), np.ones(2)
    one = np.ones(2)
    F.batch_renormalization(
        x, one, one, 2.0, 1.0, 10.0, mean, var, decay=0.0, update_statistics=True
    )
    np.testing.assert_allclose(var, x.var(axis=0) * 2)
    np.testing.assert_allclose(mean, [2, 4])
    F.batch_renormalization(x, one, one, 2.0, 1.0, 2e-5, mean, var, 0.5)
    np.testing.assert_allclose(mean, [2, 4])  # not updated by default


def test_gradients_of_fixed_decorrelated_batch_normalization():
    random = np.random.RandomState(0)
    x, mean = random.normal(size=(4, 4)), random.normal(size=(2, 2))
    projection = random.normal(size=(2, 2, 2))

    def value(x, mean, projection):
        groups = x.T.reshape(2, 2, 4) - mean[:, :, None]
        return (projection @ groups).sum()

    gradients = gradient(
        lambda *a: F.fixed_decorrelated_batch_normalization(*a, groups=2), x, mean, projection
    )
    for i, array in enumerate((x, mean, projection)):
        for index in np.ndindex(array.shape):
            shifted = [a.copy() for a in (x, mean, projection)]
            shifted[i][index] += 1e-6
            slope = (value(*shifted) - value(x, mean, projection)) / 1e-6
            assert gradients[i][index] == pytest.approx(slope, abs=1e-4)


def test_soft_targets_that_do_not_add_up_to_one():
    x, t = np.array([[1.0, 2.0, 3.0]]), np.array([[0.5, 0.0, 0.0]])
    softmax = np.exp(x) / np.exp(x).sum()
    (gx,) = gradient(lambda x: F.softmax_cross_entropy(x, t), x)
    np.testing.assert_allclose(gx, softmax * 0.5 - t)
    (gx,) = gradient(lambda x: F.softmax_cross_entropy(x, 0 * t), x)
    np.testing.assert_array_equal(gx, 0 * x)


def test_power_of_a_negative_constant():
    (gx,) = gradient(lambda x: (-2.0) ** x, np.array([2.0]))
    assert np.isnan(gx).all()


@pytest.mark.parametrize(
    ("function", "empty"),
    [
        (F.roi_max_pooling_2d, -np.inf),
        (F.roi_average_pooling_2d, 0),
        (F.roi_max_align_2d, -np.inf),
        (F.roi_average_align_2d, 0),
    ],
)
def test_region_outside_of_the_image(function, empty):
    x = np.ones((1, 1, 4, 4), "f")
    rois = np.array([[20, 20, 24, 24]], "f")
    y = function(Variable(x), rois, np.zeros(1, "i"), 2, 1.0)
    assert (y.array == empty).all()
    y.grad = np.ones_like(y.array)
    y.backward()


def test_forget_gives_parameters_their_gradients_and_updates_statistics_once():
    link = chainer.links.BatchNormalization(3, decay=0.5)
    x = Variable(np.random.RandomState(0).normal(size=(4, 3)).astype("f"))
    y = F.sum(F.forget(link, x))
    mean = link.avg_mean.copy()
    y.backward()
    np.testing.assert_array_equal(link.avg_mean, mean)
    assert link.beta.grad is not None
    assert chainer.config.in_recomputing is False


def test_max_pooling_of_an_empty_batch():
    assert F.max_pooling_2d(np.zeros((0, 2, 4, 4), "f"), 2).shape == (0, 2, 2, 2)


def test_negative_axes():
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(F.maxout(x, 2, axis=-1).array, x[:, 1::2])
    y = F.permutate(x, np.array([3, 2, 1, 0], "i"), axis=-1)
    np.testing.assert_array_equal(y.array, x[:, ::-1])


def test_average_pooling_with_pad_value_none():
    a, b, c = 1.0, 2.0, 6.0
    x = np.array([[[a, b, c]]])
    y = F.average_pooling_nd(x, 3, 1, 2, pad_value=None)
    np.testing.assert_allclose(y.array[0, 0], [a, (a + b) / 2, (a + b + c) / 3, (b + c) / 2, c])
    node = F.average_pooling_nd(Variable(x), 3, 1, 2, pad_value=None).creator
    assert node.width.tolist() == [1, 2, 3, 2, 1]


def test_cholesky_and_erfcx():
    a = np.array([[2, 0.5], [0.5, 1]])
    np.testing.assert_allclose(F.cholesky(a).array, [[1.41421, 0], [0.35355, 0.93541]], atol=1e-5)
    pytest.importorskip("scipy")
    assert float(F.erfcx(np.array(-5.0)).array) == pytest.approx(1.44e11, rel=1e-2)


DTYPES = ["e", "f", "d"]


@pytest.mark.parametrize("x_dtype", DTYPES)
@pytest.mark.parametrize("p_dtype", DTYPES)
def test_batch_normalization_of_mixed_dtypes(x_dtype, p_dtype):
    random = np.random.RandomState(0)
    x = Variable(random.normal(size=(5, 3)).astype(x_dtype))
    gamma, beta = (Variable(random.uniform(1, 2, 3).astype(p_dtype)) for _ in range(2))
    mean, var = np.ones(3, p_dtype), np.ones(3, p_dtype)
    a = x.array.astype("d")
    expected = (a - a.mean(0)) / np.sqrt(a.var(0) + 2e-5) * gamma.array + beta.array
    for y in (
        F.batch_normalization(x, gamma, beta),
        F.batch_renormalization(x, gamma, beta, 1.0, 0.0),
    ):
        assert y.dtype == x_dtype
        np.testing.assert_allclose(y.array, expected, rtol=2e-2, atol=2e-2)
        for g, source in zip(chainer.grad([y], [x, gamma, beta]), (x, gamma, beta), strict=True):
            assert g.dtype == source.dtype
    assert F.fixed_batch_normalization(x, gamma, beta, mean, var).dtype == x_dtype
    x = Variable(x.array.reshape(5, 3, 1))
    assert F.group_normalization(x, 1, gamma, beta).dtype == x_dtype


@pytest.mark.parametrize("b_dtype", DTYPES)
def test_bias_of_convolutions_of_any_number_of_axes(b_dtype):
    x, W = Variable(np.ones((1, 2, 4), "f")), Variable(np.ones((2, 2, 2), "d"))
    b = Variable(np.array([1, 2], b_dtype))
    for function in (F.convolution_1d, F.deconvolution_1d, F.convolution_nd, F.deconvolution_nd):
        y = function(x, W, b)
        assert y.dtype == np.float32
        gradients = chainer.grad([y], [x, W, b], enable_double_backprop=True)
        assert [g.dtype.char for g in gradients] == ["f", "d", b_dtype]
        np.testing.assert_array_equal(gradients[2].array, [y.shape[2]] * 2)
        y.grad = np.ones_like(y.array)
        b.cleargrad()
        y.backward()
        assert b.grad.dtype == b_dtype


@pytest.mark.parametrize(("first", "second"), [("f", "d"), ("e", "f"), ("d", "e")])
def test_functions_of_two_dtypes(first, second):
    a, b = Variable(np.full((2, 2), 0.5, first)), Variable(np.full((2, 2), 2, second))
    wide = np.result_type(a.dtype, b.dtype)
    for function in (
        F.arctan2,
        F.matmul,
        lambda a, b: F.tensordot(a, b, 1),
        lambda a, b: F.einsum("ij,jk", a, b),
    ):
        y = function(a, b)
        assert y.dtype == wide
        assert [g.dtype for g in chainer.grad([y], [a, b])] == [a.dtype, b.dtype]
    np.testing.assert_allclose(F.arctan2(a, b).array, np.arctan2(0.5, 2), rtol=1e-3)
    t, samples = np.array([0, 1], "i"), np.array([[1], [0]], "i")
    y = F.black_out(a, t, b, samples)
    assert y.dtype == wide
    assert [g.dtype for g in chainer.grad([y], [a, b])] == [a.dtype, b.dtype]


def test_arrays_take_the_dtype_of_the_other_operand():
    x, y = np.ones((2, 3), "f"), np.ones(3, "d")
    assert F.scale(x, y).dtype == np.float64
    assert F.bias(x, Variable(y)).dtype == np.float64
    assert F.average(x, weights=np.ones((2, 3))).dtype == np.float64
    assert F.average(x, axis=1, weights=Variable(y)).dtype == np.float64
    with pytest.raises(chainer.utils.type_check.InvalidType):
        F.scale(Variable(x), y)
    with pytest.raises(chainer.utils.type_check.InvalidType):
        F.average(Variable(x), axis=1, weights=y)
    with pytest.raises(chainer.utils.type_check.InvalidType):
        F.average(x.astype("d"), weights=np.ones((2, 3), "f"))


def test_cast_to_the_same_dtype_is_another_variable():
    x = Variable(np.ones(3, "f"))
    y1, y2 = F.cast(x, "f"), F.cast(x, "f")
    assert y1 is not y2
    assert y1.array is x.array
    assert type(y1.creator).__name__ == "Cast"
    gradients = chainer.grad([y1 + y2], [y1, y2])
    assert [g.array.tolist() for g in gradients] == [[1, 1, 1]] * 2
    with chainer.no_backprop_mode():
        assert F.cast(x, "f") is x


def test_product_with_an_array_of_another_dtype():
    x = Variable(np.ones((2, 2), "f"))
    other = np.ones((2, 2))
    assert [(x @ other).dtype, (other @ x).dtype] == [np.float32, np.float32]
    assert (x @ other.astype("i")).dtype == np.float32
    assert F.matmul(x, other).dtype == np.float64


def test_integer_variables_can_be_multiplied():
    x = Variable(np.array([2, 3]))
    assert (x * x).array.tolist() == [4, 9]
