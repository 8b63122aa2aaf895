from __future__ import annotations

import naive
import numpy as np
import pytest
from conftest import elements

import ideep4py
from ideep4py import ops

GEOMETRIES = [
    # x, W, stride, pad, dilate, groups
    ((2, 8, 5, 5), (4, 8, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 3, 6, 5), (5, 3, 3, 2), (2, 1), (2, 1), (1, 2), 1),
    ((2, 8, 5, 5), (6, 4, 3, 3), (2, 2), (0, 0), (1, 1), 2),
    ((1, 8, 4, 4), (8, 1, 3, 3), (1, 1), (1, 1), (1, 1), 8),
    ((2, 2, 5, 5), (2, 1, 3, 2), (2, 2), (1, 1), (1, 1), 2),
    ((2, 2, 8, 8), (16, 1, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    ((2, 1, 8, 8), (8, 1, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 3, 5, 5), (4, 3, 2, 2), (2, 2), (0, 0), (1, 1), 1),
    ((2, 4, 7), (3, 4, 3), (2,), (1,), (1,), 1),
    ((1, 2, 3, 4, 4), (3, 2, 2, 2, 2), (1, 2, 1), (1, 0, 1), (1, 1, 1), 1),
]


@pytest.mark.parametrize(("x", "W", "stride", "pad", "dilate", "groups"), GEOMETRIES)
def test_forward_and_gradients(normal, x, W, stride, pad, dilate, groups) -> None:
    options = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    shape_x, shape_w = x, W
    x, W, b = normal(*x), normal(*W), normal(W[0])
    y = ops.convolution(x, W, b, **options)
    expected = naive.convolution(x, W, b, *options.values())
    np.testing.assert_allclose(elements(y), expected, rtol=1e-4, atol=1e-4)
    gy = normal(*y.shape)
    gx = ops.convolution_backward_data(gy, W, shape_x, **options)
    by_x = naive.numerical_gradient(
        lambda a: naive.convolution(a, W, None, *options.values()), x, gy
    )
    np.testing.assert_allclose(elements(gx), by_x, rtol=1e-4, atol=1e-4)
    gW, gb = ops.convolution_backward_weights(x, gy, shape_w, bias=True, **options)
    by_w = naive.numerical_gradient(
        lambda a: naive.convolution(x, a, None, *options.values()), W, gy
    )
    assert gW.shape == shape_w
    np.testing.assert_allclose(elements(gW), by_w, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(elements(gb), gy.sum((0, *range(2, gy.ndim))), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_by_filters_of_few_channels(blocked, normal, channels, bias, stride) -> None:
    """They are computed as if there were three, where that is faster."""
    x = normal(4, channels, 14, 12)
    y = ops.convolution(x, normal(6, channels, 5, 3), stride=stride, pad=1)
    gy = normal(*y.shape)
    gW, gb = ops.convolution_backward_weights(
        x, ops.reorder(gy, y.layout), (6, channels, 5, 3), stride=stride, pad=1, bias=bias
    )
    size = [(n - 1) * stride + 1 for n in gy.shape[2:]]
    view = naive.windows(naive.pad_spatial(x, (1, 1), (1, 1)), size, (1, 1), (1, 1))
    view = view[..., ::stride, ::stride][:, :, :5, :3]
    expected = np.einsum("ncijhw,nohw->ocij", view, gy.astype(np.float64))
    assert gW.shape == expected.shape
    np.testing.assert_allclose(elements(gW), expected, rtol=1e-4, atol=1e-4)
    if bias:
        np.testing.assert_allclose(elements(gb), gy.sum((0, 2, 3)), rtol=1e-4, atol=1e-4)
    else:
        assert gb is None


def test_blocked_input_is_used_as_it_is(blocked, normal) -> None:
    x, W = blocked(2, 16, 6, 6), normal(16, 16, 3, 3)
    layout = x.layout
    y = ops.convolution(x, W, pad=1)
    assert x.layout is layout
    assert not layout.dense
    assert not y.layout.dense
    again = ops.convolution(elements(x), W, pad=1)
    np.testing.assert_allclose(elements(y), elements(again), rtol=1e-5, atol=1e-5)


def test_fused_relu(normal) -> None:
    x, W = normal(2, 8, 5, 5), normal(8, 8, 3, 3)
    plain = elements(ops.convolution(x, W, pad=1))
    np.testing.assert_array_equal(
        elements(ops.convolution(x, W, pad=1, relu=True)), np.maximum(plain, 0)
    )


def test_non_contiguous_arrays_are_copied(normal) -> None:
    x, W = normal(2, 5, 5, 8).transpose(0, 3, 1, 2), normal(3, 3, 8, 4).transpose(3, 2, 0, 1)
    expected = ops.convolution(x.copy(), W.copy(), pad=1)
    np.testing.assert_array_equal(elements(ops.convolution(x, W, pad=1)), elements(expected))


def test_out_size_sets_the_padding_behind(normal) -> None:
    x, W = normal(1, 4, 5, 5), normal(4, 4, 2, 2)
    y = ops.convolution(x, W, stride=2, out_size=[3, 3])
    padded = np.pad(x, [(0, 0), (0, 0), (0, 1), (0, 1)])
    expected = ops.convolution(padded, W, stride=2)
    np.testing.assert_allclose(elements(y), elements(expected), rtol=1e-5, atol=1e-5)


def test_deconvolution(normal) -> None:
    x, W, b = normal(2, 8, 4, 4), normal(8, 3, 3, 3), normal(6)
    y = ops.deconvolution(x, W, b, stride=2, pad=1, groups=2)
    assert y.shape == (2, 6, 7, 7)
    options = ((2, 2), (1, 1), (1, 1), 2)
    expected = naive.numerical_gradient(
        lambda a: naive.convolution(a, W, None, *options), np.empty(y.shape), x
    )
    np.testing.assert_allclose(elements(y), expected + b.reshape(1, 6, 1, 1), rtol=1e-4, atol=1e-4)
    larger = ops.deconvolution(x, W, stride=2, pad=1, groups=2, out_size=(8, 8))
    assert larger.shape == (2, 6, 8, 8)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"x": [1.0]}, TypeError, "x must be an ideep4py.mdarray or a NumPy array"),
        ({"x": np.zeros((2, 8, 5, 5))}, TypeError, "x must be of dtype float32, got float64"),
        ({"x": np.zeros((0, 8, 5, 5), "f")}, ValueError, "x must not be empty"),
        ({"W": np.zeros((4, 3, 3, 3), "f")}, ValueError, "needs 3 input channels"),
        ({"W": np.zeros((4, 8, 3), "f")}, ValueError, "axes alike"),
        ({"b": np.zeros(3, "f")}, ValueError, "b must have 4 float32 elements"),
        ({"stride": 0}, ValueError, "stride must be at least 1"),
        ({"stride": (1, 1, 1)}, ValueError, "stride must have one value for each of 2"),
        ({"stride": 1.5}, TypeError, "stride must be an int"),
        ({"pad": -1}, ValueError, "pad must be at least 0"),
        ({"groups": 3}, ValueError, "groups=3 does not divide"),
        ({"W": np.zeros((4, 8, 7, 7), "f")}, ValueError, "output size"),
    ],
)
def test_bad_arguments(change, error, message) -> None:
    arguments = {"x": np.zeros((2, 8, 5, 5), "f"), "W": np.zeros((4, 8, 3, 3), "f"), **change}
    x, W = arguments.pop("x"), arguments.pop("W")
    with pytest.raises(error, match=message):
        ops.convolution(x, W, **arguments)


def test_bad_gradient_shapes() -> None:
    gy, W = np.zeros((2, 4, 5, 5), "f"), np.zeros((4, 8, 3, 3), "f")
    with pytest.raises(ValueError, match="gy must have shape"):
        ops.convolution_backward_data(gy, W, (3, 8, 5, 5), pad=1)
    with pytest.raises(ValueError, match="gradient of a convolution"):
        ops.convolution_backward_data(gy, W, (2, 8, 9, 9), pad=0)


def test_prepared_weights_are_not_reordered_again(blocked, normal) -> None:
    x, plain = blocked(2, 16, 6, 6), normal(16, 16, 3, 3)
    W = ideep4py.array(plain)
    expected = elements(ops.convolution(x, plain, pad=1))
    assert ops.prepare_weights(W, x, pad=1, bias=False) is W
    layout = W.layout
    assert not layout.dense
    np.testing.assert_array_equal(elements(ops.convolution(x, W, pad=1)), expected)
    gW, _ = ops.convolution_backward_weights(x, expected, W.shape, pad=1)
    ops.sgd_update(W, gW, 0.5)
    assert W.layout is layout
    np.testing.assert_allclose(elements(W), plain - 0.5 * elements(gW), rtol=1e-4, atol=1e-4)
    with pytest.raises(TypeError, match="W must be an mdarray"):
        ops.prepare_weights(plain, x)
