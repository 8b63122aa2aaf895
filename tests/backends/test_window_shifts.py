"""Maxima of windows by shifts of whole images, compared with NumPy's sliding windows."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends.numpy.kernels import _window_shifts as shifts
from chainer.backends.numpy.kernels import poolings
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.core.arrays.backend import backend_of

#: Sizes of the image, of a window, and strides.
GEOMETRIES = [
    ((8, 8), (2, 2), (2, 2)),
    ((9, 7), (2, 2), (2, 2)),  # the last row and column are in no window
    ((9, 11), (3, 3), (2, 2)),
    ((7, 6), (3, 2), (1, 1)),
    ((8, 9), (4, 1), (2, 2)),
    ((8, 9), (1, 4), (2, 1)),
    ((12,), (2,), (2,)),
    ((11,), (4,), (1,)),
    ((6, 5, 7), (2, 3, 2), (2, 1, 2)),
    ((4, 4), (4, 4), (1, 1)),  # one window
]


def images(in_size, seed=0):
    """Returns images with ties, zeros of both signs and infinities."""
    random = np.random.RandomState(seed)
    x = random.randint(-3, 4, (3, 2, *in_size)).astype("f")
    x[random.rand(*x.shape) < 0.1] = -0.0
    x[random.rand(*x.shape) < 0.1] = -np.inf
    x[random.rand(*x.shape) < 0.05] = np.inf
    return x


def windows_of(x, ksize, stride):
    """Returns windows as ``(N, C, *out_size, elements)``."""
    n = len(ksize)
    found = np.lib.stride_tricks.sliding_window_view(x, ksize, tuple(range(2, 2 + n)))
    found = found[(slice(None), slice(None), *[slice(None, None, s) for s in stride])]
    return found.reshape(*found.shape[: 2 + n], -1)


def kernel():
    return poolings.MaxPoolingNDKernel(backend_of(np.zeros(1)))


@pytest.fixture(params=[1 << 20, 1], ids=["one block", "blocks of one image"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(shifts, "_BLOCK_BYTES", request.param)


@pytest.mark.parametrize(("in_size", "ksize", "stride"), GEOMETRIES)
def test_maxima_and_their_positions(in_size, ksize, stride, blocks):
    x = images(in_size)
    geometry = PoolingGeometry(ksize, stride, (0,) * len(ksize))
    windows = windows_of(x, ksize, stride)
    out_size = windows.shape[2:-1]
    assert shifts.can_shift(x, geometry, out_size)
    np.testing.assert_array_equal(
        shifts.shifted_maxima(x, geometry, out_size), windows.max(axis=-1)
    )
    codes = shifts.shifted_codes(x, geometry, out_size)
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes, windows.argmax(axis=-1))


@pytest.mark.parametrize(("in_size", "ksize", "stride"), GEOMETRIES)
@pytest.mark.parametrize("values", [(0.0, -0.0, -1.0), (0.0, 1.0), (-0.0, -1.0)])
def test_signs_of_zeros(in_size, ksize, stride, values, monkeypatch):
    random = np.random.RandomState(0)
    x = random.choice(np.array(values, "f"), (3, 2, *in_size))
    geometry = PoolingGeometry(ksize, stride, (0,) * len(ksize))
    out_size = windows_of(x, ksize, stride).shape[2:-1]
    y, _ = kernel().forward(x, out_size, geometry)
    monkeypatch.setattr(poolings, "can_shift", lambda *_: False)
    expected, _ = kernel().forward(x, out_size, geometry)
    assert y.tobytes() == expected.tobytes()


def test_negative_zeros():
    y = np.zeros(2, "f")
    for values, expected in (
        ((0.0, 1.0), False),
        ((-1.0, 0.0), False),
        ((0.0, -0.0), True),
        ((-0.0, -0.0), True),
    ):
        assert shifts.has_negative_zeros(np.array(values, "f"), y) is expected
    assert not shifts.has_negative_zeros(np.array([0.0, -0.0], "f"), y + 1)


@pytest.mark.parametrize(("in_size", "ksize", "stride"), GEOMETRIES)
def test_the_same_as_rows_of_windows(in_size, ksize, stride, monkeypatch):
    x = images(in_size, seed=1)
    gy = np.random.RandomState(2).randn(*windows_of(x, ksize, stride).shape[:-1]).astype("f")

    def results():
        v = chainer.Variable(x)
        y = F.max_pooling_nd(v, ksize, stride, cover_all=False)
        y.grad = gy
        y.backward()
        return y.array, v.grad

    found = results()
    monkeypatch.setattr(poolings, "can_shift", lambda *_: False)
    for a, b in zip(found, results(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_gradient_goes_to_the_first_nan():
    x = images((8, 8))
    x[0, 0, 3, 1] = x[0, 0, 3, 0] = np.nan
    v = chainer.Variable(x)
    y = F.max_pooling_2d(v, 2)
    assert np.isnan(y.array[0, 0, 1, 0])
    assert np.isnan(y.array).sum() == 1
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_array_equal(v.grad[0, 0, 2:4, :2], [[0, 0], [1, 0]])
    # NumPy's argmax takes the first NaN, too.
    codes = windows_of(x, (2, 2), (2, 2)).argmax(axis=-1)
    assert codes[0, 0, 1, 0] == 2


@pytest.mark.parametrize(
    ("x", "geometry", "out_size"),
    [
        (np.zeros((1, 1, 8, 8), "f"), ((2, 2), (2, 2), (1, 1)), (5, 5)),  # padding
        (np.zeros((1, 1, 9, 9), "f"), ((2, 2), (2, 2), (0, 0)), (5, 5)),  # incomplete windows
        (np.zeros((1, 1, 8, 8), "d"), ((2, 2), (2, 2), (0, 0)), (4, 4)),
        (np.zeros((1, 1, 8, 8), "e"), ((2, 2), (2, 2), (0, 0)), (4, 4)),
        (np.zeros((1, 1, 8, 16), "f")[..., ::2], ((2, 2), (2, 2), (0, 0)), (4, 4)),
        (np.zeros((0, 1, 8, 8), "f"), ((2, 2), (2, 2), (0, 0)), (4, 4)),
        (np.zeros((1, 1, 8, 8), "f"), ((8, 8), (8, 8), (0, 0)), (1, 1)),  # one large window
        (np.zeros((1, 1, 8, 8), "f"), ((1, 1), (2, 2), (0, 0)), (4, 4)),
        (np.zeros((1, 1, 8, 8), "f"), ((4, 4), (4, 4), (0, 0)), (2, 2)),  # large strides
        (np.zeros((1, 1, 2, 256), "f"), ((2, 2), (2, 2), (0, 0)), (1, 128)),  # long rows
    ],
)
def test_windows_that_are_reduced_by_rows(x, geometry, out_size):
    geometry = PoolingGeometry(*geometry)
    assert not shifts.can_shift(x, geometry, out_size)
    y, _ = kernel().forward(x, out_size, geometry)
    assert y.shape == (*x.shape[:2], *out_size)
    assert y.dtype == x.dtype


def test_input_is_not_changed(blocks):
    x = images((8, 8))
    before = x.copy()
    x.flags.writeable = False
    F.max_pooling_2d(x, 2, return_indices=True)
    np.testing.assert_array_equal(x, before)


def test_captured_step():
    x = images((8, 8))
    x[~np.isfinite(x)] = 5
    gradient = lambda x: chainer.vjp(lambda x: F.max_pooling_2d(x, 2), x)[1](
        np.ones((3, 2, 4, 4), "f")
    )[0]
    captured = chainer.capture(gradient, on_failure="error")
    for i in range(1, 6):
        np.testing.assert_array_equal(captured(x * i).array, gradient(x * i).array)
