"""Indexes that int32 cannot hold."""

import numpy as np
import pytest

import chainer.functions as F
from chainer.backend import get_backend
from chainer.backends.operations.roi_poolings import RegionGrid, Regions, roi_max_pooling_2d
from chainer.functions.math import minmax
from chainer.functions.pooling.roi_max_pooling_2d import ROIMaxPooling2D


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
    x[-2] = -1
    assert F.argmin(x).array == 2**31 + 3


def test_positions_of_regions_follow_the_number_of_pixels(monkeypatch):
    x = np.arange(6, dtype="f").reshape(1, 1, 2, 3)
    function = ROIMaxPooling2D(1, 1.0)
    function.apply((x, np.array([[0, 0, 2, 3]], "f"), np.zeros(1, "i")))
    assert function.argmax_data.dtype == "int32"
    monkeypatch.setattr(minmax, "MAX_INT32_LENGTH", 5)
    assert function.argmax_data.dtype == "int64"
    assert function.argmax_data.ravel().tolist() == [5]


@pytest.mark.slow
def test_position_in_an_image_of_more_than_2_31_pixels():
    x = np.zeros((1, 1, 2, 2**30 + 8), "e")
    x[0, 0, 1, -1] = 1
    end = x.shape[3]
    # In float16, coordinates end at 65504.
    regions = Regions(np.array([[0, end - 8, 2, end]]), np.zeros(1, int), RegionGrid((1, 1), 1.0))
    y, positions = roi_max_pooling_2d.reference_for(get_backend("numpy")).forward(x, regions)
    assert y.item() == 1
    assert positions.item() == x.size - 1
