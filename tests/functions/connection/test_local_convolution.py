"""Local convolution in blocks of rows, and of positions of a row, against one position by one."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.functions.connection.local_convolution_2d import LocalConvolution2DFunction


def one_by_one(x, W, gy, stride):
    """Returns the output and both gradients."""
    o, h, w, _, kh, kw = W.shape
    y, gx, gW = np.zeros((len(x), o, h, w)), np.zeros(x.shape), np.zeros(W.shape)
    for i, j in np.ndindex(h, w):
        cut = (
            slice(None),
            slice(None),
            slice(i * stride[0], i * stride[0] + kh),
            slice(j * stride[1], j * stride[1] + kw),
        )
        y[:, :, i, j] = np.einsum("nchw,ochw->no", x[cut], W[:, i, j])
        gx[cut] += np.einsum("no,ochw->nchw", gy[:, :, i, j], W[:, i, j])
        gW[:, i, j] = np.einsum("no,nchw->ochw", gy[:, :, i, j], x[cut])
    return y, gx, gW


# Samples, output, channels and size of filters, stride.
GEOMETRIES = [
    (2, (3, 2, 3), (2, 2, 2), (1, 1)),
    (20, (3, 4, 3), (2, 2, 2), (1, 1)),
    (8, (8, 10, 10), (8, 3, 3), (1, 1)),
    (70, (3, 4, 13), (4, 2, 3), (2, 1)),
    (300, (2, 3, 5), (6, 3, 2), (1, 3)),
    (3, (5, 40, 2), (3, 1, 2), (3, 2)),
]


@pytest.mark.parametrize(("n", "out", "filters", "stride"), GEOMETRIES)
def test_blocks(n, out, filters, stride):
    state = np.random.RandomState(0)
    sizes = [
        (m - 1) * s + k + 1 for m, s, k in zip(out[1:], stride, filters[1:])
    ]  # of which the last row and column are not seen
    x = state.standard_normal((n, filters[0], *sizes))
    W = state.standard_normal((*out, *filters))
    gy = state.standard_normal((n, *out))
    images, weights = chainer.Variable(x), chainer.Variable(W)
    y = F.local_convolution_2d(images, weights, stride=stride)
    y.grad = gy
    y.backward()
    for found, expected in zip(
        (y.array, images.grad, weights.grad), one_by_one(x, W, gy, stride), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_blocks_are_a_partition():
    """There are blocks of several rows, of one, and of a part of one, in the cases above."""
    kinds = set()
    for n, out, filters, stride in GEOMETRIES:
        node = LocalConvolution2DFunction(stride)
        sizes = [(m - 1) * s + k for m, s, k in zip(out[1:], stride, filters[1:])]
        x, W = np.zeros((n, filters[0], *sizes), "f"), np.zeros((*out, *filters), "f")
        node.apply((x, W))
        for most in (1 << 12, 1 << 15):
            positions = [p for p, _ in node._blocks(x, W, most)]
            assert [i for p in positions for i in range(p.start, p.stop)] == list(
                range(out[1] * out[2])
            )
            for p in positions:
                length = p.stop - p.start
                kinds.add("part" if length < out[2] else "row" if length == out[2] else "rows")
    assert kinds == {"part", "row", "rows"}
