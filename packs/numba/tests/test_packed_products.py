"""Products with packed weights, an operation of chainer-models."""

from __future__ import annotations

import chainer
import chainer.links as L
import numpy as np
import pytest
from chainer.utils import type_check

cm = pytest.importorskip("chainer_models")

#: Outputs, inputs, numbers in a group: rows that end within a group, one group, many.
SIZES = [
    (33, 70, 8),
    (5, 3, 4),
    (64, 128, 64),
    (7, 129, 64),
    (9, 200, 32),
    (6, 130, 96),
    (5, 9, 256),
    (4, 90, 8),
]
KINDS = ["bfloat16", "int8", "int4"]


def layer(kind, size):
    columns, inner, group = size
    base = L.Linear(inner, columns)
    base.b.array[...] = np.random.randn(columns)
    return cm.PackedLinear(base, kind, group)


def chosen(packed, x):
    arrays, attributes = packed.packed_arrays()
    return chainer.explain("packed_product", x, *arrays, **attributes).chosen.provider


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_the_widened_weight(kind, size, rows, with_numba):
    packed = layer(kind, size)
    x = np.random.randn(rows, size[1]).astype(np.float32)
    assert chosen(packed, x) == "numba"
    weight = packed.unpacked().W.array.astype(np.float64)
    expected = x @ weight.T + packed.b.array
    bound = 1e-6 * (np.abs(x) @ np.abs(weight).T).max() + 1e-6
    np.testing.assert_allclose(packed(x).array, expected, atol=bound)


@pytest.mark.parametrize("size", [1e-43, 1e-38, 1e-20, 1e20, 1e37])
@pytest.mark.parametrize("weights", [1e-36, 1.0, 1e37])
def test_bfloat16_of_any_size(weights, size, with_numba):
    base = L.Linear(130, 9, nobias=True)
    base.W.array *= np.float32(weights)
    # Most numbers of a row are far below the largest.
    base.W.array[:, 1::3] *= np.float32(1e-5)
    packed = cm.PackedLinear(base, "bfloat16")
    x = (np.random.randn(2, 130) * size).astype(np.float32)
    weight = packed.unpacked().W.array.astype(np.float64)
    with np.errstate(over="ignore"):
        expected = (x @ weight.T).astype(np.float32)
    bound = 1e-6 * (np.abs(x).astype(np.float64) @ np.abs(weight).T).max() + 1e-44
    y = packed(x).array
    is_finite = np.isfinite(expected)
    np.testing.assert_array_equal(y[~is_finite], expected[~is_finite])
    np.testing.assert_allclose(y[is_finite], expected[is_finite], atol=bound, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_strided_inputs(kind, with_numba, use_threads):
    packed = layer(kind, (96, 64, 32))
    x = np.random.randn(2, 128).astype(np.float32)
    expected = packed(x[:, ::2].copy()).array
    use_threads(3)
    strided = x[:, ::2]
    strided.flags.writeable = False
    np.testing.assert_array_equal(packed(strided).array, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_of_another_width_are_refused(kind, with_numba):
    """The kernels would read numbers behind the end of the weight."""
    packed = layer(kind, (6, 40, 8))
    for columns in (39, 41, 128):
        with pytest.raises(type_check.InvalidType, match=r"shape\[1\]"):
            packed(np.ones((1, columns), np.float32))


@pytest.mark.parametrize("group", [8, 32])
@pytest.mark.parametrize("kind", KINDS)
def test_special_values(kind, group, with_numba):
    packed = layer(kind, (6, 40, group))
    x = np.zeros((2, 40), np.float32)
    np.testing.assert_array_equal(packed(x).array, np.tile(packed.b.array, (2, 1)))
    x[0, 3] = np.nan
    y = packed(x).array
    assert np.isnan(y[0]).all()
    assert np.isfinite(y[1]).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [40, 130])
def test_infinite_inputs_are_those_of_the_reference(kind, columns, with_numba):
    base = L.Linear(columns, 70)
    # Numbers far below the largest one of a row have the code 0 and a remainder.
    base.W.array[:, 1::2] *= np.float32(1e-6)
    base.W.array[3] = 0
    packed = cm.PackedLinear(base, kind, 8)
    x = np.random.randn(4, columns).astype(np.float32)
    x[0, 4] = np.inf
    x[1, 5] = -np.inf
    x[2, [6, columns - 1]] = np.inf, -np.inf
    assert chosen(packed, x) == "numba"
    with np.errstate(invalid="ignore"):
        y = packed(x).array
        with chainer.using_config("kernels", ()):
            expected = packed(x).array
    assert np.isinf(expected[0]).any()
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_many_and_wide_vectors_are_left_to_the_reference(with_numba):
    packed = layer("int8", (6, 16, 8))
    assert chosen(packed, np.zeros((5, 16), np.float32)) == "reference"
    assert chosen(packed, np.zeros((1, 16))) == "reference"
    assert packed(np.zeros((0, 16), np.float32)).shape == (0, 6)


def test_gradients(with_numba):
    packed = layer("int8", (6, 16, 8))
    x, gy, ggx = (np.random.randn(2, n).astype(np.float32) for n in (16, 6, 16))
    chainer.gradient_check.check_backward(packed, x, gy, atol=1e-2, rtol=1e-2, eps=0.1)
    x, gy = chainer.Variable(x), chainer.Variable(gy)
    (gx,) = chainer.grad([packed(x)], [x], [gy], enable_double_backprop=True)
    (ggy,) = chainer.grad([gx], [gy], [chainer.Variable(ggx)])
    np.testing.assert_allclose(ggy.array, ggx @ packed.unpacked().W.array.T, atol=1e-5)


def test_texts_are_those_of_the_reference():
    options = {"model_type": "gpt2", "n_embd": 32, "n_head": 4, "n_layer": 2, "vocab_size": 67}
    model = cm.from_config(options, initialize=True)
    cm.pack_weights(model, "bfloat16")
    ids = np.array([[1, 2, 3]])
    expected = cm.generate(model, ids, max_new_tokens=8)
    with chainer.using_config("kernels", ("numba",)):
        np.testing.assert_array_equal(cm.generate(model, ids, max_new_tokens=8), expected)
