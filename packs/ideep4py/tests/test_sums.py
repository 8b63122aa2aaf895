"""Sums over axes and operations with arrays that broadcast."""

from __future__ import annotations

import numpy as np
import pytest

from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.library import ffi
from ideep4py._core.views import dense_view
from ideep4py._kernels import binary, reduction


@pytest.mark.parametrize("axes", [(0, 2, 3), (2, 3), (0, 3), (3,), (0, 1, 2, 3)])
@pytest.mark.parametrize("shape", [(2, 24, 16, 16), (3, 40, 12, 8), (2, 24, 5, 7), (1, 16, 4, 8)])
def test_sums_of_blocks(blocked, shape, axes) -> None:
    x = blocked(*shape)
    elements = np.array(x.copy())
    # Sums of up to 10,000 numbers of order 1 in another order.
    np.testing.assert_allclose(
        np.asarray(x.sum(axes)), elements.sum(axes, dtype=np.float64), rtol=1e-5, atol=1e-3
    )


def test_sums_in_long_rows_keep_nan_and_infinity(blocked) -> None:
    x = np.zeros((2, 3, 8, 8, 8), np.float32)
    x[1, 2, 3, 4, 5], x[0, 1, 7, 7, 0] = np.nan, np.inf
    expected = np.zeros((3, 8), np.float32)
    expected[2, 5], expected[1, 0] = np.nan, np.inf
    np.testing.assert_array_equal(reduction._sum(x, (0, 2, 3)), expected)


@pytest.mark.parametrize("shape", [(4, 5, 6, 7), (1, 12, 33, 17), (2, 3, 4, 5, 6)])
@pytest.mark.parametrize("kept", [(0,), (0, 1), (0, 1, 2), (1,), (-1,), (1, 2), ()])
def test_numbers_that_serve_rows(normal, shape, kept) -> None:
    x = normal(*shape)
    kept = [axis % x.ndim for axis in kept]
    y = normal(*(n if i in kept else 1 for i, n in enumerate(shape)))
    data = [(L.dense(array.shape), ffi.from_buffer(array)) for array in (x, y)]
    np.testing.assert_array_equal(dense_view(*binary.broadcast("sub", *data)), x - y)


def test_rows_use_generated_code() -> None:
    x, y = L.dense((2, 3, 40, 50)), L.dense((2, 3, 40, 1))
    plan = runtime.plan(binary.Broadcast, x, y, "sub")
    assert "ref" not in plan.run.__self__.implementation
