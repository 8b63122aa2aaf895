"""The contract of arrays and their namespace: what functions written with ``xp`` rely on."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import operator

import numpy as np
import pytest

from chainer.core.autograd.variable import Variable
from chainer.testing.conformance.contract import assert_equal, assert_on_device, values
from chainer.testing.conformance.refusals import requires

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")


def test_creation_functions(device, xp):
    with device:
        pairs = (
            (xp.zeros((2, 3), "float32"), np.zeros((2, 3), np.float32)),
            (xp.full((2,), 4, "int32"), np.full((2,), 4, np.int32)),
            (xp.arange(5), np.arange(5)),
            (xp.eye(3, dtype="float32"), np.eye(3, dtype=np.float32)),
        )
    for array, expected in pairs:
        assert_on_device(array, device)
        assert array.dtype == expected.dtype
        assert_equal(array, expected)


@requires("float64")
def test_arrays_are_of_float64_by_default(device, xp):
    with device:
        arrays = (xp.ones((3,), "float64"), xp.zeros(3), xp.asarray([1.0, 1.0, 1.0]))
    for array in arrays:
        assert array.dtype == np.float64


def test_creation_like_an_array(device, xp, array):
    for made, value in ((xp.zeros_like(array), 0), (xp.ones_like(array), 1)):
        assert_on_device(made, device)
        assert (made.shape, made.dtype) == (array.shape, array.dtype)
        assert_equal(made, np.full((2, 3), value))
    assert xp.empty_like(array).shape == (2, 3)


def test_attributes(array):
    assert array.shape == (2, 3)
    assert array.dtype == np.float32
    assert (array.ndim, array.size, len(array)) == (2, 6, 2)
    assert np.dtype(array.dtype).kind == "f"


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(device, array, name):
    function = getattr(operator, name)
    x = values()
    other = values() + 1
    for result, expected in (
        (function(array, device.send(other)), function(x, other)),
        (function(array, 2), function(x, 2)),
        (function(array, 2.5), function(x, np.float32(2.5))),
        (function(2, array + 1), function(2, x + 1)),
    ):
        assert_on_device(result, device)
        assert result.dtype == np.float32, "Python numbers do not change the dtype"
        assert_equal(result, expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["floordiv", "mod"])
def test_division_of_negative_numbers_rounds_down(device, array, name):
    function = getattr(operator, name)
    x = values() - 3
    result = function(device.send(x), 2)
    assert_equal(result, function(x, 2))
    assert_equal(function(array - 3, device.send(np.full((2, 3), -2, np.float32))), function(x, -2))


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(device, array, name):
    function = getattr(operator, name)
    for result, expected in (
        (function(array, 2), function(values(), 2)),
        (function(array, device.send(values()[::-1].copy())), function(values(), values()[::-1])),
    ):
        assert_on_device(result, device)
        assert result.dtype == np.bool_
        assert_equal(result, expected)


def test_unary_operators_and_matrix_product(array):
    x = values()
    assert_equal(-array, -x)
    assert_equal(abs(-array), x)
    assert_equal(array @ array.T, x @ x.T)


def test_elementwise_functions(xp, array):
    x = values()
    for name in ("exp", "tanh", "sqrt", "square", "sign", "floor", "sin", "log1p"):
        result = getattr(xp, name)(array)
        assert result.dtype == np.float32, name
        assert_equal(result, getattr(np, name)(x), rtol=1e-5)
    assert_equal(xp.maximum(array, 2), np.maximum(x, 2))
    assert_equal(xp.where(array > 2, array, -array), np.where(x > 2, x, -x))
    assert_equal(array.clip(1, 3), x.clip(1, 3))


def test_reductions(xp, array):
    x = values()
    for result, expected in (
        (array.sum(axis=1), x.sum(axis=1)),
        (array.sum(), x.sum()),
        (array.max(axis=(0, 1)), x.max()),
        (xp.mean(array, axis=0, keepdims=True), x.mean(axis=0, keepdims=True)),
        (array.var(axis=1), x.var(axis=1)),
        (array.argmax(axis=1), x.argmax(axis=1)),
        (xp.cumsum(array, axis=1), x.cumsum(axis=1)),
        ((array > 2).any(), np.bool_(True)),
    ):
        assert_equal(result, expected, rtol=1e-5)
        if expected.dtype.kind == "f":
            assert result.dtype == np.float32, "reductions do not change the dtype"


def test_products(xp, array):
    x = values()
    for result, expected in (
        (array.dot(array.T), x.dot(x.T)),
        (xp.matmul(array.T, array), x.T @ x),
        (xp.tensordot(array, array, axes=((0, 1), (0, 1))), np.tensordot(x, x)),
        (xp.einsum("ij,kj->ik", array, array + 1), x @ (x + 1).T),
        (xp.tensordot(array, array.T, axes=1), x @ x.T),
    ):
        assert_equal(result, expected, rtol=1e-5)


def test_indexing(device, xp, array):
    x = values()
    with device:
        rows = xp.asarray([1, 0, 1])
    assert_equal(array[rows], x[[1, 0, 1]])
    assert_equal(array[:, ::-1], x[:, ::-1])
    assert_equal(array[None, ..., 1], x[None, ..., 1])
    assert_equal(array[-1, 1:], x[-1, 1:])
    assert float(array[1, 2]) == 5


@requires("in_place")
def test_assignment(array):
    x = values()
    array[array > 2] = 0
    x[x > 2] = 0
    assert_equal(array, x)
    array[:, 1] = array[:, 0]
    x[:, 1] = x[:, 0]
    assert_equal(array, x)
    array[...] = 7
    assert_equal(array, np.full((2, 3), 7))


def test_shape_manipulation(xp, array):
    x = values()
    result = xp.concatenate([array.reshape(3, 2), array.T], axis=1)
    assert_equal(result, np.concatenate([x.reshape(3, 2), x.T], axis=1))
    for result, expected in (
        (xp.broadcast_to(array, (4, 2, 3)), np.broadcast_to(x, (4, 2, 3))),
        (array.transpose(1, 0), x.T),
        (array.reshape(-1), x.reshape(-1)),
        (array.ravel(), x.ravel()),
        (xp.stack([array, array + 1]), np.stack([x, x + 1])),
        (xp.stack([array, array + 1], axis=-1), np.stack([x, x + 1], axis=-1)),
        (xp.expand_dims(array, 1), x[:, None]),
        (xp.expand_dims(array, 1).squeeze(1), x),
        (xp.swapaxes(array[None], 0, 1), x[:, None]),
        (xp.moveaxis(array[None], 0, 2), x[:, :, None]),
        (xp.concatenate([array, array + 1], axis=-1), np.concatenate([x, x + 1], axis=-1)),
    ):
        assert result.shape == expected.shape
        assert_equal(result, expected)


@requires("float64")
def test_dtypes(device, xp, array):
    with device:
        integers = xp.arange(3, dtype="int32")
    assert array.astype("float64").dtype == np.float64
    assert array.astype(np.float64).dtype == np.float64
    assert (integers / 2).dtype == np.float64
    assert (array.astype("float64") + array).dtype == np.float64
    assert_equal(array.astype("int32"), values("int32"))


def test_casts_to_integers_and_back(array):
    integers = array.astype("int32")
    assert integers.dtype == np.int32
    assert_equal(integers, values("int32"))
    assert integers.astype("float32").dtype == np.float32


@requires("complex")
def test_complex_numbers(xp, array):
    z = array.astype("complex64") * (1 + 2j)
    assert z.dtype == np.complex64
    assert_equal(z, values() * (1 + 2j))
    assert_equal(z.real, values())
    assert_equal(z.imag, values() * 2)
    assert_equal(xp.conj(z), values() * (1 - 2j))


@requires("float16")
def test_half_precision(array):
    half = array.astype("float16")
    assert half.dtype == np.float16
    assert (half + 1).dtype == np.float16
    assert (half + array).dtype == np.float32
    assert_equal(half.sum(axis=0), values().sum(axis=0))


@requires("in_place", "views")
def test_views_share_memory(array):
    x = values()
    for view in (lambda a: a[1], lambda a: a[:, ::2], lambda a: a.T, lambda a: a.reshape(-1)):
        view(array)[0] = 50
        view(x)[0] = 50
        assert_equal(array, x)
        array[1, 0] = x[1, 0] = 7
        assert_equal(view(array), view(x))


@requires("in_place")
def test_in_place_arithmetic_changes_the_array(array):
    same = array
    array += 1
    array *= 2
    assert array is same
    assert_equal(same, (values() + 1) * 2)
    array -= 1
    array /= 2
    assert array is same
    assert_equal(same, ((values() + 1) * 2 - 1) / 2)


@requires("in_place")
def test_functions_write_to_out(xp, array):
    out = xp.empty_like(array)
    assert xp.add(array, 1, out=out) is out
    assert_equal(out, values() + 1)


def test_arrays_leave_operators_to_variables(array):
    x = Variable(array)
    for y in (array + x, array - x, array * x, x + array):
        assert isinstance(y, Variable), f"the array made {type(y)} of a Variable"
    assert_equal(array - (x + 1), np.full((2, 3), -1))


@requires("random")
def test_random_numbers_are_repeatable(backend, device):
    random = backend.random(device)
    with device:
        random.seed(3)
        first = random.uniform(size=(5,))
        random.seed(3)
        second = random.uniform(size=(5,))
        third = random.uniform(size=(5,))
    assert_on_device(first, device)
    np.testing.assert_array_equal(backend.to_host(first), backend.to_host(second))
    assert (backend.to_host(second) != backend.to_host(third)).any()


@requires("random")
def test_random_numbers_follow_their_distributions(backend, device):
    random = backend.random(device)
    with device:
        random.seed(0)
        uniform = random.uniform(-1, 1, size=(1000,))
        normal = random.normal(2, 0.5, size=(1000,))
        integers = random.randint(0, 5, size=(1000,))
        low, high = float(uniform.min()), float(uniform.max())
        mean, deviation = float(normal.mean()), float(normal.std())
    assert -1 <= low < -0.9
    assert 0.9 < high <= 1
    assert abs(mean - 2) < 0.1
    assert abs(deviation - 0.5) < 0.1
    assert sorted(set(backend.to_host(integers).tolist())) == [0, 1, 2, 3, 4]
