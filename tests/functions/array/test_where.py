"""Choice between arrays of any size and kind."""

from __future__ import annotations

import numpy as np
import pytest

import chainer.functions as F
from chainer import Variable


@pytest.mark.parametrize("shape", [(3, 4), (100, 70)])
@pytest.mark.parametrize("dtype", ["e", "f", "d", "i1", "i4", "?"])
def test_chooses_bit_by_bit(shape, dtype):
    random = np.random.default_rng(0)
    condition = random.integers(0, 2, shape).astype(bool)
    x = random.integers(0, 100, shape).astype(dtype)
    y = random.integers(0, 100, shape[::-1]).astype(dtype).T  # another memory layout
    z = F.where(condition, x, y).array
    assert z.dtype == dtype
    np.testing.assert_array_equal(z, np.where(condition, x, y))


@pytest.mark.parametrize("size", [4, 4096])
def test_elements_not_chosen_do_not_matter(size):
    x = np.full(size, np.nan, "f")
    y = np.full(size, np.inf, "f")
    condition = np.zeros(size, bool)
    np.testing.assert_array_equal(F.where(condition, x, y).array, y)
    np.testing.assert_array_equal(F.where(~condition, x, y).array, x)


def test_gradients_go_where_elements_came_from():
    condition = np.arange(5000) % 3 == 0
    x, y = Variable(np.zeros(5000, "f")), Variable(np.ones(5000, "f"))
    z = F.where(condition, x, y)
    gz = z.grad = np.arange(5000, dtype="f")
    z.backward()
    np.testing.assert_array_equal(x.grad, gz * condition)
    np.testing.assert_array_equal(y.grad, gz * ~condition)
