"""Indexes that int32 cannot hold."""

import numpy as np
import pytest

import chainer.functions as F
from chainer.functions.math import minmax


@pytest.mark.parametrize(("axis", "dtype"), [(None, "int64"), (1, "int64"), (0, "int32")])
def test_dtype_follows_the_number_of_elements(axis, dtype, monkeypatch):
    monkeypatch.setattr(minmax, "MAX_INT32_LENGTH", 4)
    x = np.array([[1, 2, 3, 4, 5], [9, 8, 7, 6, 0]], "f")
    for function, reference in ((F.argmax, np.argmax), (F.argmin, np.argmin)):
        y = function(x, axis=axis)
        assert y.dtype == dtype
        np.testing.assert_array_equal(y.array, reference(x, axis=axis))


@pytest.mark.slow
def test_more_than_2_31_elements():
    # 4 GiB of memory that the system does not supply before a page is written.
    x = np.zeros(2**31 + 5, "e")
    x[-2] = 1
    assert F.argmax(x).array == 2**31 + 3
