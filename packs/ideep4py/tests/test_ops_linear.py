from __future__ import annotations

import numpy as np
import pytest
from conftest import elements

import ideep4py
from ideep4py import ops


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_matmul(normal, trans_a, trans_b) -> None:
    a, b = normal(*((5, 3) if trans_a else (3, 5))), normal(*((4, 5) if trans_b else (5, 4)))
    expected = (a.T if trans_a else a) @ (b.T if trans_b else b)
    y = ops.matmul(a, b, trans_a=trans_a, trans_b=trans_b, alpha=0.5)
    np.testing.assert_allclose(y, 0.5 * expected, rtol=1e-5, atol=1e-6)
    again = ops.matmul(a, b, trans_a=trans_a, trans_b=trans_b, beta=2.0, out=y)
    assert again is y
    np.testing.assert_allclose(y, 2 * expected, rtol=1e-5, atol=1e-6)


def test_matmul_errors(normal) -> None:
    a = normal(3, 5)
    with pytest.raises(ValueError, match="do not fit"):
        ops.matmul(a, a)
    with pytest.raises(ValueError, match="needs out"):
        ops.matmul(a, a.T, beta=1.0)
    with pytest.raises(ValueError, match="out must be"):
        ops.matmul(a, a.T, out=ideep4py.array(normal(2, 2)))
    with pytest.raises(ValueError, match="at least 2 axes"):
        ops.matmul(normal(3), a)


def test_linear_and_gradients(normal, blocked) -> None:
    for x in (normal(6, 72), blocked(6, 8, 3, 3)):
        flat = elements(ideep4py.mdarray(x)).reshape(6, -1)
        W, b, gy = normal(4, 72), normal(4), normal(6, 4)
        np.testing.assert_allclose(ops.linear(x, W, b), flat @ W.T + b, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(ops.linear(x, W), flat @ W.T, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(ops.linear_backward_data(W, gy), gy @ W, rtol=1e-4, atol=1e-4)
        gW, gb = ops.linear_backward_weights(x, gy, bias=True)
        np.testing.assert_allclose(gW, gy.T @ flat, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(gb, gy.sum(0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", [np.array, ideep4py.array])
def test_linear_into_memory(normal, make) -> None:
    """Results in given memory have the bits of new arrays."""
    x, W, b, gy = normal(6, 72), normal(40, 72), normal(40), normal(6, 40)
    cases = [
        (ops.linear, (x, W, b), (6, 40)),
        (ops.linear, (x, W), (6, 40)),
        (ops.linear_backward_data, (W, gy), (6, 72)),
        (lambda *a, out=None: ops.linear_backward_weights(*a, out=out)[0], (x, gy), (40, 72)),
    ]
    for function, arguments, shape in cases:
        out = make(np.full(shape, np.nan, np.float32))
        assert function(*arguments, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), np.asarray(function(*arguments)))


def test_linear_into_unsuitable_memory(normal) -> None:
    x, W, gy = normal(2, 3), normal(4, 3), normal(2, 4)
    read_only = np.zeros((2, 4), np.float32)
    read_only.flags.writeable = False
    for out in (
        np.zeros((4, 2), np.float32),
        np.zeros((2, 4)),
        np.zeros((4, 2), np.float32).T,
        np.zeros((2, 8), np.float32)[:, ::2],
        read_only,
        ideep4py.array(normal(4, 2)),
        [[0.0] * 4] * 2,
    ):
        with pytest.raises(ValueError, match=r"out must be a writable .* shape \(2, 4\)"):
            ops.linear(x, W, out=out)
    with pytest.raises(ValueError, match=r"out must be .* shape \(2, 3\)"):
        ops.linear_backward_data(W, gy, out=np.zeros((3, 2), np.float32))
    with pytest.raises(ValueError, match=r"out must be .* shape \(4, 3\)"):
        ops.linear_backward_weights(x, gy, out=np.zeros((3, 4), np.float32))


def test_linear_errors(normal) -> None:
    with pytest.raises(ValueError, match="W must have 3 columns"):
        ops.linear(normal(2, 3), normal(4, 5))
    with pytest.raises(ValueError, match="b must have 4"):
        ops.linear(normal(2, 3), normal(4, 3), normal(3))
    with pytest.raises(ValueError, match="gy must have 4 columns"):
        ops.linear_backward_data(normal(4, 3), normal(2, 5))
    with pytest.raises(ValueError, match="gy must have 2 rows"):
        ops.linear_backward_weights(normal(2, 3), normal(3, 4))


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 16, 33, 129, 400])
def test_all_ways_to_multiply(normal, rows) -> None:
    """With AVX-512 the sizes decide which code of oneDNN multiplies by a transposed matrix."""
    for columns, terms in (
        (1, 1),
        (3, 17),
        (64, 33),
        (200, 64),
        (1600, 9),
        (20, 1100),
        (1600, 1030),
    ):
        x, W, b = normal(rows, terms), normal(columns, terms), normal(columns)
        expected = x.astype("d") @ W.T
        close = {"rtol": 1e-4, "atol": 1e-5 * terms**0.5}
        np.testing.assert_allclose(ops.linear(x, W), expected, **close)
        np.testing.assert_allclose(ops.linear(x, W, b), expected + b, **close)
        np.testing.assert_allclose(ops.matmul(x, W, trans_b=True), expected, **close)
        np.testing.assert_allclose(ideep4py.mdarray(x) @ W.T, expected, **close)
        gy = normal(rows, columns)
        close["atol"] = 2e-5 * max(columns, rows) ** 0.5
        np.testing.assert_allclose(ops.linear_backward_data(W, gy), gy.astype("d") @ W, **close)
        gW, _ = ops.linear_backward_weights(x, gy)
        np.testing.assert_allclose(gW, gy.T.astype("d") @ x, **close)
