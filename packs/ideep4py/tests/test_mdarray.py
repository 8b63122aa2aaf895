from __future__ import annotations

import copy
import gc
import pickle
import sys

import numpy as np
import pytest
from conftest import channels_last, elements

import ideep4py
from ideep4py import mdarray, ops


@pytest.fixture(params=["dense", "blocked", "padded", "channels_last"])
def x(request, normal, blocked):
    if request.param == "dense":
        return mdarray(normal(2, 8, 3, 4))
    if request.param == "channels_last":
        return channels_last(mdarray(normal(2, 5, 3, 4)))
    return blocked(2, 8 if request.param == "blocked" else 5, 3, 4)


def test_facts(x) -> None:
    plain = elements(x)
    assert (x.shape, x.ndim, x.size) == (plain.shape, 4, plain.size)
    assert (x.dtype, x.itemsize, x.nbytes) == (np.float32, 4, plain.nbytes)
    assert x.is_mdarray
    assert len(x) == 2
    assert not isinstance(x, np.ndarray)


def test_array_view_shares_memory(x) -> None:
    plain = elements(x)
    view = np.asarray(x)
    np.testing.assert_array_equal(view, plain)
    view[0, 0] = 7
    x[1, 1] = 8
    assert (elements(x)[0, 0] == 7).all()
    assert (view[1, 1] == 8).all()
    x += 1
    assert (view[0, 0] == 8).all()


def test_array_copy_semantics_of_numpy_2(x) -> None:
    copied = np.array(x)
    copied[:] = 0
    assert np.asarray(x).any()
    assert np.array(x, copy=None).base is not None
    assert np.shares_memory(np.asarray(x, copy=False), np.asarray(x))
    assert np.asarray(x, dtype="d").dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype="d", copy=False)


def test_views_outlive_the_array(x) -> None:
    expected = elements(x)
    view = np.asarray(x)
    del x
    gc.collect()
    others = [ideep4py.array(np.zeros(expected.shape, "f")) for _ in range(20)]
    np.testing.assert_array_equal(view, expected)
    assert len(others) == 20


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ needs Python 3.12")
def test_buffer(x) -> None:
    assert memoryview(x).shape == x.shape


@pytest.mark.parametrize(
    "look",
    [np.asarray, np.from_dlpack, lambda x: x.reshape(-1), lambda x: x.T, lambda x: x[1:], iter],
    ids=["asarray", "dlpack", "reshape", "T", "getitem", "iter"],
)
def test_views_outlive_a_new_layout(look) -> None:
    W = mdarray(np.ones((64, 64, 3, 3), "f"))
    view = look(W)
    ops.prepare_weights(W, mdarray(np.ones((2, 64, 8, 8), "f")))
    assert not W.layout.dense
    gc.collect()
    others = [mdarray(np.full((64, 64, 3, 3), 7.0, "f")) for _ in range(3)]
    for part in view if look is iter else [view]:
        assert (np.asarray(part) == 1).all()
    assert len(others) == 3


def test_dlpack(x) -> None:
    expected = elements(x)
    other = np.from_dlpack(x)
    np.testing.assert_array_equal(other, expected)
    assert np.shares_memory(other, np.asarray(x))
    assert x.__dlpack_device__() == (1, 0)


def test_reading_keeps_the_layout(x) -> None:
    plain, layout = elements(x), x.layout
    np.testing.assert_array_equal(np.exp(x), np.exp(plain))
    np.testing.assert_array_equal(np.concatenate([x, x]), np.concatenate([plain, plain]))
    np.testing.assert_array_equal(np.where(x > 0, x, 0), np.where(plain > 0, plain, 0))
    np.testing.assert_array_equal(np.stack((x, x), axis=1), np.stack((plain, plain), axis=1))
    repr(x)
    pickle.dumps(x)
    copy.deepcopy(x)
    assert x.layout is layout


def test_numpy_results_are_ndarrays(x) -> None:
    for result in (np.tanh(x), np.add(x, x), x > 0, x**2, x // 2, x.T, x[0], x.max(axis=0), abs(x)):
        assert type(result) is np.ndarray
    plain = elements(x)
    np.testing.assert_array_equal(plain + x, 2 * plain)
    assert type(plain + x) is np.ndarray


def test_arithmetic_stays_in_the_layout(x, normal) -> None:
    plain, other, layout = elements(x), normal(*x.shape), x.layout
    y = mdarray(other)
    cases = [
        (x + y, plain + other),
        (x - y, plain - other),
        (x * y, plain * other),
        (x + other, plain + other),
        (x - other, plain - other),
        (x * other, plain * other),
        (x + 2, plain + 2),
        (2 + x, 2 + plain),
        (x - 2.5, plain - np.float32(2.5)),
        (2 - x, 2 - plain),
        (x * 0.3, plain * np.float32(0.3)),
        (0.3 * x, plain * np.float32(0.3)),
        (x / 3, plain / 3),
        (-x, -plain),
        (x * np.float32(2), plain * 2),
    ]
    for result, expected in cases:
        assert type(result) is mdarray
        assert result.layout is layout
        np.testing.assert_allclose(elements(result), expected, rtol=1e-6, atol=1e-6)
    assert type(x / y) is mdarray
    np.testing.assert_allclose(elements(x / y), plain / other, rtol=1e-6)


def test_other_arithmetic_is_numpys(x) -> None:
    plain = elements(x)
    np.testing.assert_allclose(1 / x, 1 / plain)
    np.testing.assert_array_equal(x + plain.astype("d"), plain + plain.astype("d"))
    np.testing.assert_array_equal(x * plain[:1], plain * plain[:1])
    np.testing.assert_array_equal(x + np.float64(1), plain + np.float64(1))
    assert (x + np.float64(1)).dtype == np.float64
    np.testing.assert_array_equal(divmod(x, 2)[1], divmod(plain, 2)[1])
    with pytest.raises(ValueError, match="broadcast"):
        x + np.zeros((3, 3), "f")
    with pytest.raises(TypeError):
        x + None


def test_in_place_arithmetic_keeps_array_and_layout(x, normal) -> None:
    plain, other, layout, same = elements(x), normal(*x.shape), x.layout, x
    x += mdarray(other)
    x -= other * 2
    x *= 1.5
    x += 1
    x /= 4
    x *= other
    x /= np.abs(other) + 1
    assert x is same
    assert x.layout is layout
    expected = ((plain + other - 2 * other) * 1.5 + 1) / 4 * other / (np.abs(other) + 1)
    np.testing.assert_allclose(elements(x), expected, rtol=1e-4, atol=1e-5)
    x **= 2
    x += np.ones(x.shape[-1], "f")
    assert x is same
    np.testing.assert_allclose(elements(x), expected**2 + 1, rtol=1e-4, atol=1e-5)


def test_padding_stays_zero(blocked, normal) -> None:
    x = blocked(2, 5, 3, 3)
    other = mdarray(normal(2, 5, 3, 3))
    for y in (x + 3, 3 - x, x / 2, x / other, x / x, ops.eltwise(x, "exp"), x.axpby(2, 3, other)):
        plain = elements(y)
        np.testing.assert_allclose(y.sum((0, 2, 3)), plain.sum((0, 2, 3)), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(float(y.sum()), plain.sum(), rtol=1e-3, atol=1e-3)
        w = normal(4, 5, 1, 1)
        expected = np.einsum("nchw,oc->nohw", plain, w[:, :, 0, 0])
        np.testing.assert_allclose(elements(ops.convolution(y, w)), expected, rtol=1e-3, atol=1e-3)
    with np.errstate(divide="ignore", invalid="ignore"):
        x /= 0
    assert not np.isfinite(elements(x)).any()


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2, 3), (1, 2), (2, 3), [0, 1]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sum(x, axis, keepdims) -> None:
    expected = elements(x).sum(tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)
    result = x.sum(axis, keepdims=keepdims)
    assert isinstance(result, mdarray) == (expected.ndim > 0)
    assert np.shape(result) == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_sum_parameters(x) -> None:
    plain = elements(x)
    assert x.sum(0, dtype="d").dtype == np.float64
    assert x.sum(0, True).shape == (1, *x.shape[1:])  # the original's second parameter
    out = np.empty(x.shape[1:], "f")
    assert x.sum(0, None, out) is out
    np.testing.assert_allclose(np.sum(x, axis=(0, 1)), plain.sum((0, 1)), rtol=1e-4, atol=1e-5)
    for axis, error in [(4, IndexError), ((0, 0), ValueError)]:
        with pytest.raises((error, ValueError)):
            x.sum(axis)


def test_reshape(x) -> None:
    plain = elements(x)
    y = x.reshape(2, -1)
    assert type(y) is mdarray
    np.testing.assert_array_equal(y, plain.reshape(2, -1))
    y[0] = 0
    assert not np.asarray(x)[0].any()
    assert x.reshape(x.shape).layout is x.layout
    with pytest.raises(ValueError, match="reshape"):
        x.reshape(7, 7)


def test_copies(x) -> None:
    for y in (x.copy(), copy.copy(x), copy.deepcopy(x)):
        assert type(y) is mdarray
        assert y.layout is x.layout
        before = elements(x)
        y += 1
        np.testing.assert_array_equal(elements(x), before)


def test_pickle(x) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert type(y) is mdarray
        np.testing.assert_array_equal(elements(y), elements(x))


def test_set(x, normal) -> None:
    layout, other = x.layout, normal(*x.shape)
    x.set(other)
    assert x.layout is layout
    np.testing.assert_array_equal(elements(x), other)
    with pytest.raises(ValueError, match="array must have shape"):
        x.set(normal(2, 2))
    with pytest.raises(TypeError, match="array must have dtype"):
        x.set(np.zeros(x.shape, "i"))


def test_axpby(x, normal) -> None:
    plain, other, layout = elements(x), normal(*x.shape), x.layout
    y = x.axpby(2, -3, other)
    np.testing.assert_allclose(elements(y), 2 * plain - 3 * other, rtol=1e-5, atol=1e-5)
    assert x.inplace_axpby(0.5, 0.25, y) is x
    assert x.layout is layout
    np.testing.assert_allclose(elements(x), 0.5 * plain + 0.25 * elements(y), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="y must be a float32 array of shape"):
        x.axpby(1, 1, normal(3))


def test_output_arguments(x) -> None:
    same = x
    result = np.add(x, 1, out=x)
    assert result is same
    np.copyto(x, 3)
    assert (np.asarray(x) == 3).all()
    out = mdarray(np.zeros(x.shape[1:], "f"))
    assert np.sum(x, axis=0, out=out) is out
    assert (np.asarray(out) == 6).all()
    np.add.at(x, 0, 1)
    assert (np.asarray(x)[0] == 4).all()


def test_matrix_products(normal) -> None:
    a, b = normal(3, 5), normal(5, 4)
    for left, right in [(mdarray(a), b), (a, mdarray(b)), (mdarray(a), mdarray(b))]:
        np.testing.assert_allclose(left @ right, a @ b, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(np.dot(left, right), a @ b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mdarray(b).T @ mdarray(a).T, b.T @ a.T, rtol=1e-5, atol=1e-6)
    row = normal(5)
    np.testing.assert_allclose(mdarray(a) @ row, a @ row, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="matmul"):
        mdarray(a) @ a


def test_scalars_and_empty_arrays() -> None:
    zero_d = mdarray(np.array(2, "f"))
    assert zero_d.shape == ()
    assert float(zero_d + zero_d) == 4
    assert float(zero_d.sum()) == 2
    assert int(zero_d * 3) == 6
    assert zero_d.reshape(1, 1).shape == (1, 1)
    with pytest.raises(TypeError, match="unsized"):
        len(zero_d)
    empty = mdarray(np.zeros((0, 3), "f"))
    assert (empty + empty).shape == (0, 3)
    assert np.asarray(empty.sum(0)).tolist() == [0, 0, 0]
    assert empty.reshape(3, 0).shape == (3, 0)
    assert pickle.loads(pickle.dumps(empty)).shape == (0, 3)


def test_other_dtypes() -> None:
    for dtype in ("int32", "int8", "uint8"):
        x = mdarray(np.arange(6, dtype=dtype).reshape(2, 3))
        assert x.dtype == dtype
        np.testing.assert_array_equal(x + x, np.arange(6).reshape(2, 3) * 2)
        assert x.sum() == 15
    for bad in (np.zeros(3, "i8"), np.zeros(3, ">f4"), np.zeros(3, "c8")):
        with pytest.raises(TypeError, match="float32, int32, int8 or uint8"):
            mdarray(bad)


def test_constructor_arguments(normal) -> None:
    a = normal(2, 3)
    np.testing.assert_array_equal(mdarray(memoryview(a)), a)
    np.testing.assert_array_equal(mdarray(mdarray(a), "w"), a)
    with pytest.raises(ValueError, match="not C-contiguous"):
        mdarray(a.T)
    with pytest.raises(TypeError, match="must be a NumPy array or have a buffer"):
        mdarray([1.0])


def test_attributes(x) -> None:
    x.name = "mine"
    assert x.name == "mine"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = x.nothing
    with pytest.raises(AttributeError):
        x.shape = (1,)
    with pytest.raises(ValueError, match="cannot delete"):
        del x[0]
    assert isinstance(hash(x), int)
    assert 1e9 not in x
    assert next(iter(x)).shape == x.shape[1:]


def test_from_numpy_shares_memory(normal) -> None:
    a = normal(2, 3)
    x = ops.from_numpy(a)
    x += 1
    a[0, 0] = 9
    np.testing.assert_array_equal(elements(x), a)
    frozen = a.copy()
    frozen.flags.writeable = False
    for bad in (a.T, frozen, a[:0]):
        with pytest.raises(ValueError, match="C-contiguous, writable and not empty"):
            ops.from_numpy(bad)
    with pytest.raises(TypeError):
        ops.from_numpy(a.astype("i8"))


def test_reorder(blocked, normal) -> None:
    x, y = mdarray(normal(2, 8, 3, 4)), blocked(2, 8, 3, 4)
    moved = ops.reorder(x, y.layout)
    assert moved.layout is y.layout
    np.testing.assert_array_equal(elements(moved), elements(x))
    np.testing.assert_array_equal(elements(ops.dense(moved)), elements(x))
    with pytest.raises(ValueError, match="layout must be of shape"):
        ops.reorder(normal(2, 3), y.layout)
    with pytest.raises(TypeError, match="layout must be the layout"):
        ops.reorder(x, "nchw")
    assert "dense" not in repr(y.layout)
    assert "dense" in repr(x.layout)


def test_sum_over_an_axis_of_length_1(blocked) -> None:
    for x in (blocked(2, 1, 3, 4), ideep4py.array(np.ones((1, 3), np.float32))):
        plain = elements(x)
        axis = plain.shape.index(1)
        np.testing.assert_array_equal(x.sum(axis), plain.sum(axis))
