"""Sizes of convolutions and rearrangement of patches."""

import itertools

import numpy as np
import pytest

from chainer.core.arrays.windows import window_range
from chainer.core.utils import conv, conv_nd


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ((5, 3, 1, 0), 3),
        ((6, 3, 2, 0), 2),
        ((6, 3, 2, 0, True), 3),
        ((30, 10, 5, 5, False, 1), 7),
        ((7, 3, 2, 1, False, 2), 3),
        ((2, 5, 1, 0), -2),
    ],
)
def test_conv_outsize(arguments, size):
    assert conv.get_conv_outsize(*arguments) == size


@pytest.mark.parametrize("cover_all", [False, True])
def test_deconv_outsize_is_one_whose_convolution_fits(cover_all):
    for n, k, s, p, d in itertools.product((2, 5), (2, 3), (1, 2, 3), (0, 1), (1, 2)):
        size = conv.get_deconv_outsize(n, k, s, p, cover_all, d)
        assert conv.get_conv_outsize(size, k, s, p, cover_all, d) == n


def test_as_sizes():
    assert conv.as_sizes(3, 2, "ksize") == (3, 3)
    assert conv.as_sizes([1, 2, 3], 3, "ksize") == (1, 2, 3)
    with pytest.raises(ValueError, match=r"stride must be an int or a pair of ints, got \(1,\)"):
        conv.pair((1,), "stride")


def test_window_range_agrees_with_counting():
    for offset, n, m, s, p in itertools.product((0, 1, 4), (0, 1, 5), (1, 4), (1, 2, 3), (0, 2, 6)):
        positions = [t * s + offset - p for t in range(m)]
        inside = [t for t, position in enumerate(positions) if 0 <= position < n]
        windows, elements = window_range(offset, n, m, s, p)
        assert list(range(m))[windows] == inside
        assert list(range(n))[elements] == [positions[t] for t in inside]


@pytest.mark.parametrize("cover_all", [False, True])
@pytest.mark.parametrize("dilate", [1, 2])
def test_patches_one_by_one(cover_all, dilate):
    x = np.arange(2 * 3 * 6 * 5, dtype="f").reshape(2, 3, 6, 5)
    patches = conv.im2col_cpu(x, 2, 3, 2, 1, 1, 2, -1, cover_all, dilate, dilate)
    n, c, kh, kw, h, w = patches.shape
    for i, j, y, z in np.ndindex(kh, kw, h, w):
        row, column = y * 2 - 1 + i * dilate, z - 2 + j * dilate
        inside = 0 <= row < 6 and 0 <= column < 5
        expected = x[:, :, row, column] if inside else np.full((n, c), -1)
        np.testing.assert_array_equal(patches[:, :, i, j, y, z], expected)


def test_col2im_is_the_adjoint():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3, 6, 5))
    patches = conv.im2col_cpu(x, 2, 3, 2, 1, 1, 2, cover_all=True)
    g = rng.normal(size=patches.shape)
    back = conv.col2im_cpu(g, 2, 1, 1, 2, 6, 5)
    assert np.isclose((patches * g).sum(), (x * back).sum())
    patches = conv_nd.im2col_nd_cpu(x, (2, 3), (2, 1), (1, 2), cover_all=True)
    np.testing.assert_allclose(conv_nd.col2im_nd_cpu(g, (2, 1), (1, 2), (6, 5)), back)


def test_patches_that_do_not_fit():
    x = np.zeros((1, 1, 2, 5))
    with pytest.raises(ValueError, match="Height in the output should be positive"):
        conv.im2col_cpu(x, 3, 3, 1, 1, 0, 0)
    with pytest.raises(ValueError, match="Output sizes should be positive"):
        conv_nd.im2col_nd_cpu(x, (3, 3), (1, 1), (0, 0))
