"""NaN and infinities that a condition hides stay hidden."""

import numpy as np
import pytest

import chainer
import chainer.functions as F

NAN, INF = np.nan, np.inf

#: Below and above the size from which on NumPy arrays are chosen by bit operations.
SIZES = [1, 5000]


def gradients(function, *inputs, gy):
    xs = [chainer.Variable(np.array(x)) for x in inputs]
    y = function(*xs)
    y.grad = np.array(gy, y.dtype)
    y.backward()
    return [x.grad for x in xs]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
class TestWhere:
    def arrays(self, dtype, size, *rows):
        return [np.tile(np.array(row, dtype), size) for row in rows]

    def test_gradient(self, dtype, size):
        condition = np.tile([True, False, True, False], size)
        x, y, gy = self.arrays(dtype, size, [1, 2, 3, 4], [5, 6, 7, 8], [NAN, INF, 1, 2])
        gx, g = gradients(lambda x, y: F.where(condition, x, y), x, y, gy=gy)
        np.testing.assert_array_equal(gx, np.where(condition, gy, 0))
        np.testing.assert_array_equal(g, np.where(condition, 0, gy))
        assert gx.dtype == g.dtype == dtype

    def test_gradient_of_the_gradient(self, dtype, size):
        condition = np.tile([True, False], size)
        x, ggx = self.arrays(dtype, size, [1, 2], [3, NAN])
        x = chainer.Variable(x)
        gy = chainer.Variable(np.ones_like(x.array))
        y = F.where(condition, x, np.zeros_like(x.array))
        (gx,) = chainer.grad([y], [x], [gy], enable_double_backprop=True)
        (ggy,) = chainer.grad([gx], [gy], [chainer.Variable(ggx)])
        np.testing.assert_array_equal(ggy.array, np.where(condition, ggx, 0))

    def test_extremum(self, dtype, size):
        x1, x2, gy = self.arrays(dtype, size, [1, 2, 3, 3], [2, 1, 3, 4], [INF, NAN, 1, 2])
        for function, first in ((F.maximum, x1 >= x2), (F.minimum, x1 <= x2)):
            gx1, gx2 = gradients(function, x1, x2, gy=gy)
            np.testing.assert_array_equal(gx1, np.where(first, gy, 0))
            np.testing.assert_array_equal(gx2, np.where(first, 0, gy))


def test_extremum_beside_nan():
    """As in release 7: the second input of maximum gets the gradient, of minimum neither."""
    x1, x2 = np.array([NAN, 1, NAN]), np.array([1, NAN, NAN])
    for function, second in ((F.maximum, 1), (F.minimum, 0)):
        gx1, gx2 = gradients(function, x1, x2, gy=np.ones(3))
        np.testing.assert_array_equal(gx1, [0, 0, 0])
        np.testing.assert_array_equal(gx2, [second] * 3)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_attention_whose_rows_are_all_masked():
    """A program of 2017: rows of -inf become NaN in softmax, and a second condition hides them."""
    mask = np.array([[True, True, False], [False, False, False]])
    x = chainer.Variable(np.array([[1, 2, 3], [4, 5, 6]], "f"))
    a = F.softmax(F.where(mask, x, np.full((2, 3), -INF, "f")), axis=1)
    a = F.where(np.isnan(a.array), np.zeros((2, 3), "f"), a)
    F.sum(a * np.array([[1, 2, 3], [4, 5, 6]], "f")).backward()
    p = 1 / (1 + np.exp(-1))
    np.testing.assert_allclose(x.grad, [[-p * (1 - p), p * (1 - p), 0], [0, 0, 0]], rtol=1e-5)


def test_slopes_of_prelu():
    _, gW = gradients(F.prelu, np.array([[2.0], [-1.0]]), np.array([0.5]), gy=[[INF], [3]])
    np.testing.assert_array_equal(gW, [-3])


def test_fmod_of_infinite_divisors():
    x, divisor = np.array([-0.5, 2.5, 1], "f"), np.array([INF, -INF, 0.75], "f")
    np.testing.assert_array_equal(F.fmod(x, divisor).array, np.fmod(x, divisor))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sampler_at_points_that_are_not_finite(dtype):
    x = np.arange(1, 5, dtype=dtype).reshape(1, 1, 2, 2)
    grid = np.array([[[[-1, NAN, INF]], [[-1, 0, 0]]]], dtype)
    y = F.spatial_transformer_sampler(x, grid)
    np.testing.assert_array_equal(y.array, [[[[1, NAN, 0]]]])
    gx, _ = gradients(F.spatial_transformer_sampler, x, grid, gy=[[[[1, 0, 0]]]])
    assert gx[0, 0, 0, 0] != 0


class TestResizeImages:
    @pytest.mark.parametrize("mode", ["bilinear", "nearest"])
    @pytest.mark.parametrize("align_corners", [True, False])
    @pytest.mark.parametrize("sizes", [(2, 5), (5, 2), (1, 3), (70, 130)])
    def test_values_and_gradients_of_pixels_without_nan(self, mode, align_corners, sizes):
        small, large = sizes
        random = np.random.RandomState(0)
        x = random.rand(1, 2, small, 3)
        gy = random.rand(1, 2, large, 4)

        def resized(x):
            return F.resize_images(x, (large, 4), mode=mode, align_corners=align_corners)

        expected = resized(x).array
        (expected_gx,) = gradients(resized, x, gy=gy)
        spoiled, spoiled_gy = x.copy(), gy.copy()
        spoiled[0, 0] = NAN
        spoiled_gy[0, 0] = INF
        np.testing.assert_allclose(resized(spoiled).array[0, 1], expected[0, 1])
        (gx,) = gradients(resized, x, gy=spoiled_gy)
        np.testing.assert_allclose(gx[0, 1], expected_gx[0, 1])

    @pytest.mark.parametrize("sizes", [(2, 5), (5, 2), (70, 130)])
    def test_pixels_whose_squares_overflow(self, sizes):
        small, large = sizes
        x = np.random.RandomState(0).rand(1, 2, small, 3).astype(np.float32)
        gy = np.random.RandomState(1).rand(1, 2, large, 4).astype(np.float32)

        def resized(x):
            return F.resize_images(x, (large, 4))

        huge = np.float32(1e30)
        np.testing.assert_allclose(resized(x * huge).array, resized(x).array * huge, rtol=1e-5)
        (gx,) = gradients(resized, x, gy=gy)
        (huge_gx,) = gradients(resized, x, gy=gy * huge)
        np.testing.assert_allclose(huge_gx, gx * huge, rtol=1e-5)

    def test_nan_reaches_its_neighbors_only(self):
        x = np.arange(9.0).reshape(1, 1, 9, 1)
        x[0, 0, 4] = NAN
        y = F.resize_images(x, (17, 1)).array[0, 0, :, 0]
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(y)), [7, 8, 9])
        np.testing.assert_allclose(y[:7], np.arange(7) / 2)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F", "step"])
def test_choices_among_many_elements(dtype, order):
    # So many that they are chosen by operations on bits.
    random = np.random.RandomState(0)
    x, y, gy = random.randn(3, 64, 100).astype(dtype)
    y[::3] = NAN
    gy[::5] = INF
    if order == "F":
        x, gy = np.asfortranarray(x), np.asfortranarray(gy)
    if order == "step":
        x, y, gy = x[:, ::2], y[:, ::2], gy[:, ::2]
    condition = x > 0
    chosen = F.where(condition, x, y)
    np.testing.assert_array_equal(chosen.array, np.where(condition, x, y))
    gx0, gx1 = gradients(lambda x, y: F.where(condition, x, y), x, y, gy=gy)
    np.testing.assert_array_equal(gx0, np.where(condition, gy, 0))
    np.testing.assert_array_equal(gx1, np.where(condition, 0, gy))


def test_gradient_of_many_slopes_ignores_elements_above_zero():
    x = np.random.RandomState(0).randn(64, 100).astype(np.float32)
    W = np.full(100, 0.25, np.float32)
    gy = np.where(x >= 0, np.float32(INF), np.float32(1))
    gx, gW = gradients(F.prelu, x, W, gy=gy)
    np.testing.assert_array_equal(gx, np.where(x >= 0, np.float32(INF), W))
    np.testing.assert_allclose(gW, np.where(x < 0, x, 0).sum(axis=0), rtol=1e-4)
