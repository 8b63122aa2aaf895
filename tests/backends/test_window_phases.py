"""Patches by phases are those of windows that are written out, for any stride."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import chainer.functions as F
from chainer.backends.numpy.window_phases import window_phases

#: Sizes of windows and images, stride, padding and dilation, in one to three dimensions.
GEOMETRIES = [
    ((3,), (7,), (1,), (1,), (1,)),
    ((4,), (9,), (2,), (1,), (1,)),
    ((1,), (7,), (3,), (0,), (1,)),  # two of three phases meet no window
    ((2,), (9,), (3,), (1,), (2,)),
    ((3,), (4,), (2,), (4,), (3,)),  # windows in the padding alone
    ((4, 4), (8, 7), (2, 2), (1, 1), (1, 1)),
    ((3, 2), (6, 9), (1, 3), (2, 0), (2, 1)),
    ((2, 1, 3), (4, 5, 6), (2, 1, 3), (1, 0, 2), (1, 1, 2)),
]


def _windows(ksize, in_size, stride, pad, dilate):
    sizes = zip(in_size, ksize, stride, pad, dilate)
    out_size = tuple([(n + 2 * p - (k - 1) * d - 1) // s + 1 for n, k, s, p, d in sizes])
    return out_size, window_phases(ksize, in_size, out_size, stride, pad, dilate)


def _patches(x, ksize, out_size, stride, pad, dilate):
    """Returns patches one element at a time, as ``(C, k_1, ..., t_1, ..., N)``."""
    found = np.zeros((x.shape[1], *ksize, *out_size, len(x)))
    for index in product(*map(range, ksize)):
        for window in product(*map(range, out_size)):
            places = zip(index, window, stride, pad, dilate)
            place = tuple([t * s - p + i * d for i, t, s, p, d in places])
            if all([0 <= q < n for q, n in zip(place, x.shape[2:])]):
                found[(slice(None), *index, *window)] = x[(..., *place)].T
    return found


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_patches_and_their_sums(geometry):
    ksize, in_size, *how = geometry
    out_size, windows = _windows(*geometry)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5, 2, *in_size))
    phases = windows.zeros(np, 2, 5, "d")
    windows.split(x, phases)
    patches = np.full((2, *ksize, *out_size, 5), np.nan)
    windows.gather(phases, patches)
    np.testing.assert_array_equal(patches, _patches(x, ksize, out_size, *how))

    # The sum of patches is the transposed linear map.
    gradient = rng.normal(size=patches.shape)
    phases = windows.zeros(np, 2, 5, "d")
    windows.add(gradient, phases)
    gx = np.zeros_like(x)
    windows.join(phases, gx)
    np.testing.assert_allclose((gx * x).sum(), (gradient * patches).sum(), rtol=1e-12)
    # Images without elements that no window meets need not be filled with zeros first.
    everywhere = np.full_like(x, np.nan)
    windows.join(phases, everywhere)
    assert windows.covers_image == (not np.isnan(everywhere).any())


@pytest.mark.parametrize(("ksize", "stride", "pad"), [(4, 2, 1), (3, 2, 0), (1, 3, 0), (2, 3, 1)])
@pytest.mark.parametrize("samples", [7, 8, 20])
def test_gradients_do_not_depend_on_the_number_of_samples(samples, ksize, stride, pad):
    # With less than eight samples in memory, images are computed in another way.
    rng = np.random.default_rng(0)
    x = rng.normal(size=(samples, 3, 9, 10))
    W = rng.normal(size=(4, 3, ksize, ksize))

    def gradients(x):
        y = F.convolution_2d(x, W, stride=stride, pad=pad)
        gx = F.deconvolution_2d(y, W, stride=stride, pad=pad, outsize=(9, 10))
        return y.array, gx.array

    one_by_one = [
        np.concatenate(each) for each in zip(*[gradients(x[i : i + 1]) for i in range(samples)])
    ]
    for found, expected in zip(gradients(x), one_by_one):
        # Sums of at most 64 products of numbers of size 1 to 10.
        np.testing.assert_allclose(found, expected, atol=1e-11)


def test_last_block_of_few_samples(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3, 9, 9)).astype("f")
    W = rng.normal(size=(4, 3, 4, 4)).astype("f")

    def run():
        y = F.convolution_2d(x, W, stride=2, pad=1)
        return y.array, F.deconvolution_2d(y, W, stride=2, pad=1, outsize=(9, 9)).array

    whole = run()
    # Blocks of nine, nine and two samples.
    monkeypatch.setattr(
        "chainer.backends.numpy.kernels.convolutions._BLOCK_BYTES", 9 * 3 * 16 * 16 * 4
    )
    for found, expected in zip(run(), whole):
        # Sums of at most 16 * 4 products of numbers of size 1 to 10.
        np.testing.assert_allclose(found, expected, atol=64 * 100 * np.finfo("f").eps)
