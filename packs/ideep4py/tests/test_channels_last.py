"""Convolutions whose channels do not fill oneDNN's blocks: channels last, and the same results."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import elements
from convolution_checks import as_it_is, check_convolution, in_blocks, with_channels_last

from ideep4py import ops
from ideep4py._core import runtime
from ideep4py._core.library import HAS_AVX512
from ideep4py.ops import _channels_last


def is_last(array) -> bool:
    last = _channels_last.layout(array.shape, array.layout.data_type)
    return array.layout is _channels_last.outside(last)


@pytest.fixture
def fresh():
    """A function that turns channels last off or on again for plans made from then on."""
    share = _channels_last._SHARE

    def use(last: bool) -> None:
        _channels_last._SHARE = share if last else float("inf")
        runtime.drop_plans()

    yield use
    use(True)


CASES = [
    # x, W, stride, pad, dilate, whether blocks of 8 channels would mean many zeros, too
    ((2, 20, 9, 7), (50, 20, 5, 5), (1, 1), (0, 0), (1, 1), True),
    ((3, 1, 8, 9), (20, 1, 3, 3), (1, 1), (1, 1), (1, 1), False),
    ((2, 3, 8, 9), (20, 3, 3, 2), (2, 1), (0, 1), (1, 1), False),
    ((2, 20, 8, 8), (64, 20, 3, 3), (1, 2), (1, 0), (2, 1), False),
    ((1, 6, 5, 5), (7, 6, 5, 5), (1, 1), (2, 2), (1, 1), True),
    ((2, 20, 5, 5), (20, 20, 5, 5), (1, 1), (0, 0), (1, 1), True),
    ((2, 20, 5, 5), (1, 20, 3, 3), (1, 1), (0, 0), (1, 1), False),
]


@pytest.mark.parametrize("laid_out", [as_it_is, in_blocks, with_channels_last])
@pytest.mark.parametrize(("x", "W", "stride", "pad", "dilate", "narrow"), CASES)
def test_convolution_and_gradients(normal, laid_out, x, W, stride, pad, dilate, narrow) -> None:
    check_convolution(normal, laid_out, x, W, stride=stride, pad=pad, dilate=dilate)
    options = {"stride": stride, "pad": pad, "dilate": dilate}
    y = ops.convolution(laid_out(normal(*x)), normal(*W), **options)
    assert is_last(y) == (HAS_AVX512 or narrow)
    if is_last(y):
        assert is_last(ops.convolution_backward_data(y, normal(*W), x, **options))


@pytest.mark.parametrize(
    ("x", "W"), [((3, 20, 9), (9, 20, 3)), ((2, 6, 5, 4, 6), (20, 6, 3, 3, 3))]
)
def test_one_and_three_axes(normal, fresh, x, W) -> None:
    results = []
    for last in (True, False):
        fresh(last)
        y = ops.convolution(normal_of(x), normal_of(W), normal_of(W[:1]), pad=1)
        gy = normal_of(y.shape)
        gx = ops.convolution_backward_data(gy, normal_of(W), x, pad=1)
        gW, gb = ops.convolution_backward_weights(normal_of(x), gy, W, pad=1, bias=True)
        assert gb is not None
        results.append([elements(array) for array in (y, gx, gW, gb)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-4)


def normal_of(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape, dtype=np.float32)


@pytest.mark.skipif(not HAS_AVX512, reason="20 channels suit blocks of 8 behind one channel")
def test_a_whole_network_keeps_the_layout(normal) -> None:
    """Convolution, relu, pooling and back: no array is in blocks."""
    W1, W2 = normal(20, 1, 5, 5), normal(50, 20, 5, 5)
    x = normal(4, 1, 28, 28)
    h = ops.relu(ops.convolution(x, W1))
    p, places = ops.pooling(h, "max", 2)
    y = ops.convolution(p, W2)
    gp = ops.convolution_backward_data(ops.relu(y), W2, p.shape)
    gh = ops.pooling_backward(gp, h, "max", 2, workspace=places)
    g = ops.relu_backward(h, gh)
    assert all(is_last(array) for array in (h, p, y, gp, gh, g))


def test_blocks_where_nothing_is_filled_up(normal) -> None:
    for W in ((48, 32, 3, 3), (16, 3, 3, 3), (40, 20, 1, 1)):
        assert ops.convolution(normal(2, W[1], 8, 8), normal(*W)).layout.block_geometry()[2]


def test_filters_of_one_tap_follow_their_input(normal) -> None:
    W = normal(20, 20, 1, 1)
    for array in (normal(2, 20, 6, 6), in_blocks(normal(2, 20, 6, 6))):
        assert not is_last(ops.convolution(array, W))
    y = ops.convolution(with_channels_last(normal(2, 20, 6, 6)), W)
    assert is_last(y)
    assert is_last(ops.convolution_backward_data(y, W, (2, 20, 6, 6)))


def test_groups_stay_with_onednn(normal) -> None:
    grouped = ops.convolution(normal(2, 40, 6, 6), normal(40, 20, 3, 3), groups=2)
    assert not is_last(grouped)


def test_infinities_and_nans_stay_where_they_are(normal) -> None:
    x = normal(1, 20, 9, 9)
    x[0, 3, 4, 4], x[0, 7, 0, 0] = np.nan, np.inf
    y = elements(ops.convolution(x, np.abs(normal(24, 20, 3, 3))))
    assert np.isnan(y[:, :, 2:5, 2:5]).all()
    assert np.isinf(y[:, :, 0, 0]).all()
    assert np.isfinite(y[:, :, 5:, :]).all()
