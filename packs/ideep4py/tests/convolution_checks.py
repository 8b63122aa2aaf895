"""Compares convolutions and their gradients with the definition in float64, in several layouts."""

from __future__ import annotations

from unittest import mock

import naive
import numpy as np
from conftest import channels_last, elements

import ideep4py
from ideep4py import ops
from ideep4py.ops import _channels_last, _patches


def as_it_is(array: np.ndarray) -> np.ndarray:
    return array


def in_blocks(array: np.ndarray) -> ideep4py.mdarray:
    channels = array.shape[1]
    # oneDNN's own choice, also in tests of products and of channels last.
    own = (
        mock.patch.object(_patches, "_LARGE", 1 << 60),
        mock.patch.object(_channels_last, "_SHARE", float("inf")),
    )
    with own[0], own[1]:
        blocked = ops.convolution(array, np.zeros((channels, channels, 1, 1), np.float32))
    assert blocked.layout.block_geometry()[2]  # type: ignore[index]
    return ops.reorder(array, blocked.layout)


def with_channels_last(array: np.ndarray) -> ideep4py.mdarray:
    return channels_last(ideep4py.array(array))


def check_convolution(normal, laid_out, x, W, *, stride=(1, 1), pad=(0, 0), dilate=(1, 1)) -> None:
    """Checks the convolution and all gradients for arrays laid out by ``laid_out``."""
    options = {"stride": stride, "pad": pad, "dilate": dilate}
    x, W, b = normal(*x), normal(*W), normal(W[0])
    y = ops.convolution(laid_out(x), W, b, **options)
    expected = naive.convolution(x, W, b, stride, pad, dilate, 1)
    assert y.shape == expected.shape
    np.testing.assert_allclose(elements(y), expected, rtol=0, atol=3e-5 * np.sqrt(W[0].size))

    gy = normal(*y.shape)
    windows = naive.windows(naive.pad_spatial(x, pad, pad), W.shape[2:], stride, dilate)
    gW, gb = ops.convolution_backward_weights(
        laid_out(x), laid_out(gy), W.shape, bias=True, **options
    )
    assert gW.shape == W.shape
    by_w = np.einsum("nchwij,nohw->ocij", windows, gy.astype(np.float64))
    positions = gy[:, 0].size
    np.testing.assert_allclose(elements(gW), by_w, rtol=0, atol=3e-5 * np.sqrt(positions))
    np.testing.assert_allclose(elements(gb), gy.sum((0, 2, 3)), rtol=0, atol=1e-5 * positions)

    gx = ops.convolution_backward_data(laid_out(gy), W, x.shape, **options)
    assert gx.shape == x.shape
    padded = np.zeros_like(naive.pad_spatial(x, pad, pad))
    spread = np.einsum("nohw,ocij->ncijhw", gy.astype(np.float64), W)
    for taps in np.ndindex(*W.shape[2:]):
        places = tuple(
            slice(k * d, k * d + (n - 1) * s + 1, s)
            for k, d, n, s in zip(taps, dilate, gy.shape[2:], stride, strict=True)
        )
        padded[:, :, *places] += spread[:, :, *taps]
    by_x = padded[:, :, pad[0] : pad[0] + x.shape[2], pad[1] : pad[1] + x.shape[3]]
    np.testing.assert_allclose(elements(gx), by_x, rtol=0, atol=3e-5 * np.sqrt(W[:, 0].size))
