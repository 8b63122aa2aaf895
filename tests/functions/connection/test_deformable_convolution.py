"""Deformable convolution; numbers of release 7.8.1."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable

RANDOM = np.random.RandomState(0)
X, W, B = (RANDOM.randn(*s).astype("f") for s in ((2, 3, 5, 6), (4, 3, 2, 3), (4,)))
OFFSET = RANDOM.randn(2, 12, 4, 4).astype("f")


def test_numbers():
    variables = [Variable(a) for a in (X, OFFSET, W, B)]
    y = F.deformable_convolution_2d_sampler(*variables)
    expected = [-3.262, -3.74, -3.581, 1.263, 0.998, -0.5]
    np.testing.assert_allclose(y.array.ravel()[:6], expected, atol=1e-3)
    y.grad = RANDOM.randn(*y.shape).astype("f")
    y.backward()
    squares = [float((v.grad**2).sum()) for v in variables]
    np.testing.assert_allclose(squares, [847.8176, 5075.1752, 979.8254, 227.42195], rtol=1e-5)


def test_first_half_of_the_channels_is_horizontal():
    x = np.arange(9, dtype="f").reshape(1, 1, 3, 3)
    w, offset = np.zeros((1, 1, 2, 2), "f"), np.zeros((1, 8, 2, 2), "f")
    w[0, 0, 0, 0] = offset[0, 0] = 1
    y = F.deformable_convolution_2d_sampler(x, offset, w)
    np.testing.assert_allclose(y.array, [[[[1, 2], [4, 5]]]], atol=1e-6)


@pytest.mark.parametrize(("stride", "pad", "size"), [(1, 0, (4, 4)), ((2, 1), (1, 2), (3, 8))])
def test_without_displacement_it_is_a_convolution(stride, pad, size):
    expected = F.convolution_2d(X, W, B, stride, pad).array
    offset = np.zeros((2, 12, *size), "f")
    y = F.deformable_convolution_2d_sampler(X, offset, W, B, stride, pad)
    np.testing.assert_allclose(y.array, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [(1, 1), (1, 4), (3, 1)])
def test_images_of_one_row_or_column(length):
    """Release 7 divides by zero."""
    x = np.ones((1, 1, *length), "f")
    y = F.deformable_convolution_2d_sampler(
        x, np.full((1, 2, *length), 0.25, "f"), np.ones((1, 1, 1, 1), "f")
    )
    # A quarter of the last row and of the last column is outside.
    expected = np.ones(length)
    expected[-1] *= 0.75
    expected[:, -1] *= 0.75
    np.testing.assert_allclose(y.array[0, 0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "w", "y"), [("f", "d", "d"), ("d", "f", "d"), ("f", "e", "f"), ("e", "e", "e")]
)
def test_dtypes(x, w, y):
    arrays = X.astype(x), OFFSET.astype(x), W.astype(w)
    variables = [Variable(a) for a in arrays]
    output = F.deformable_convolution_2d_sampler(*variables, B.astype(y))
    assert output.dtype == y
    F.sum(output).backward()
    assert [v.grad.dtype for v in variables] == [a.dtype for a in arrays]
    if y != "f":
        with pytest.raises(chainer.utils.type_check.InvalidType, match="dtype"):
            F.deformable_convolution_2d_sampler(*arrays, B)
