"""Convolutions as products of patches against the definition in float64."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import elements
from convolution_checks import as_it_is, check_convolution, in_blocks, with_channels_last

from ideep4py import ops
from ideep4py._core import runtime
from ideep4py.ops import _patches
from ideep4py.ops._patches import Data, Forward, Weights


@pytest.fixture
def always(monkeypatch):
    """Every convolution that can be done so."""
    monkeypatch.setattr(_patches, "_SHARE", 0)
    monkeypatch.setattr(_patches, "_LARGE", 0)
    monkeypatch.setattr(_patches, "_SHARE_OF_SINGLE_TAPS", 0)
    runtime.drop_plans()
    yield
    runtime.drop_plans()


def plans(W: tuple[int, ...] | None = None) -> list[type]:
    """Classes of the plans by products, of all filters, or of filters of one shape."""
    found = []
    for (_, key, _), plan in runtime._state.plans.items():
        run = plan[0] if isinstance(plan, tuple) else plan.run
        kind = type(getattr(run, "__self__", None))
        if kind in (Forward, Data, Weights) and (W is None or W in key):
            found.append(kind)
    return found


CASES = [
    # x, W, stride, pad, dilate
    ((2, 16, 4, 4), (32, 16, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((3, 8, 5, 7), (16, 8, 3, 2), (2, 1), (0, 2), (1, 2)),
    ((1, 5, 6, 6), (8, 5, 2, 2), (1, 1), (0, 0), (1, 1)),
    ((2, 24, 6, 5), (8, 24, 3, 3), (3, 2), (1, 1), (1, 1)),
    ((1, 16, 2, 2), (16, 16, 5, 5), (1, 1), (2, 2), (1, 1)),
    ((2, 16, 3, 3), (8, 16, 3, 3), (1, 1), (2, 1), (2, 1)),
]


@pytest.mark.parametrize("laid_out", [as_it_is, in_blocks, with_channels_last])
@pytest.mark.parametrize(("x", "W", "stride", "pad", "dilate"), CASES)
def test_convolution_and_gradients(always, normal, laid_out, x, W, stride, pad, dilate) -> None:
    check_convolution(normal, laid_out, x, W, stride=stride, pad=pad, dilate=dilate)
    assert plans(W) == [Forward, Weights]


@pytest.mark.parametrize("laid_out", [as_it_is, in_blocks, with_channels_last])
@pytest.mark.parametrize(
    ("stride", "pad", "expected"),
    [
        (1, 0, [Forward, Weights, Data]),
        (2, 0, [Forward, Weights]),
        (1, 1, [Forward, Weights]),
    ],
)
def test_filters_of_one_tap(always, normal, laid_out, stride, pad, expected) -> None:
    W = (32, 16, 1, 1)
    options = {"stride": (stride, stride), "pad": (pad, pad)}
    check_convolution(normal, laid_out, (2, 16, 4, 3), W, **options)
    assert plans(W) == expected


def test_filled_up_blocks(always, normal) -> None:
    """Three channels in a block of eight."""
    x = ops.convolution(normal(1, 8, 5, 5), normal(3, 8, 1, 1))
    W = normal(8, 3, 3, 3)
    y = ops.convolution(x, W, pad=1)
    again = ops.convolution(elements(x), W, pad=1)
    np.testing.assert_allclose(elements(y), elements(again), rtol=1e-5, atol=1e-5)


def test_fused_relu_and_no_bias(always, normal) -> None:
    x, W, b = normal(2, 16, 4, 4), normal(16, 16, 3, 3), normal(16)
    for bias in (None, b):
        plain = elements(ops.convolution(x, W, bias, pad=1))
        fused = elements(ops.convolution(x, W, bias, pad=1, relu=True))
        np.testing.assert_array_equal(fused, np.maximum(plain, 0))
    gW, gb = ops.convolution_backward_weights(x, plain, W.shape, pad=1)
    assert gb is None
    assert gW.layout.dense


def test_chosen_for_large_filters_of_small_images(normal) -> None:
    runtime.drop_plans()
    W = normal(256, 256, 3, 3)
    for size, expected in ((2, [Forward]), (32, [])):
        ops.convolution(normal(2, 256, size, size), W, pad=1)
        assert plans() == expected
        runtime.drop_plans()


def test_chosen_for_filters_of_one_tap(normal) -> None:
    runtime.drop_plans()
    for size, expected in ((2, [Forward, Data, Weights]), (4, [Weights]), (16, [])):
        shape = (1024, 256, 1, 1)
        x, W = normal(4, 256, size, size), normal(*shape)
        y = ops.convolution(x, W)
        ops.convolution_backward_data(y, W, x.shape)
        gW, _ = ops.convolution_backward_weights(x, y, W.shape)
        assert plans(shape) == expected
        assert gW.layout.dense or not expected
        runtime.drop_plans()


def test_not_for_groups_or_other_numbers_of_axes(always, normal) -> None:
    ops.convolution(normal(1, 16, 4, 4), normal(16, 8, 3, 3), groups=2)
    ops.convolution(normal(1, 16, 4), normal(16, 16, 3))
    ops.convolution(normal(1, 16, 4, 4, 4), normal(16, 16, 3, 3, 3))
    assert plans() == []
