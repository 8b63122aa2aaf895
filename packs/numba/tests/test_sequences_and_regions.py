"""Connectionist temporal classification, and pooling of regions, against the reference."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("any_size")


def both(function, array):
    results = []
    for kernels in ((), ("numba",)):
        x = chainer.Variable(array)
        with chainer.using_config("kernels", kernels):
            y = function(x)
            y.grad = np.linspace(1, 2, y.size, dtype=y.dtype).reshape(y.shape)
            y.backward()
        results.append((y.array, x.grad))
    return results


def check(function, array):
    (y, gx), (actual_y, actual_gx) = both(function, array)
    np.testing.assert_allclose(actual_y, y, rtol=1e-5, atol=1e-6)
    # Sums of logarithms of hundreds are rounded in the fifth digit behind the point.
    np.testing.assert_allclose(actual_gx, gx, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("size", [1, 50])
def test_ctc_of_sequences_of_different_lengths(size):
    # Repeated labels, no labels, more labels than steps (no alignment), one step.
    labels = np.array([[1, 1, 2], [3, 4, 3], [0, 0, 0], [1, 2, 3], [2, 0, 0]], np.int32)
    lengths = np.array([7, 9, 5, 2, 1], np.int32), np.array([3, 3, 0, 3, 1], np.int32)

    def loss(x):
        return F.connectionist_temporal_classification(
            F.separate(x), labels, 0, *lengths, reduce="no"
        )

    check(loss, (np.random.randn(9, 5, 5) * size).astype(np.float32))


REGIONS = np.array(
    [[-3, 2, 5.5, 9], [0, 0, 12, 12], [4, 4, 4, 4], [20, 20, 30, 30], [2.5, 1, 3.5, 11]], np.float32
)
IMAGES = np.array([0, 1, 1, 0, -1], np.int32)


@pytest.mark.parametrize("name", ["roi_max_pooling_2d", "roi_average_pooling_2d"])
def test_regions_inside_across_and_outside_of_the_image(name):
    x = np.random.randn(2, 3, 12, 10).astype(np.float32)
    check(lambda x: getattr(F, name)(x, REGIONS, IMAGES, (3, 2), 0.75), x)


@pytest.mark.parametrize("ratio", [None, 2, (3, None)])
@pytest.mark.parametrize("name", ["roi_max_align_2d", "roi_average_align_2d"])
def test_points_between_pixels(name, ratio):
    x = np.random.randn(2, 3, 12, 10).astype(np.float32)
    # The maximum over no points is minus infinity: no gradient flows.
    check(lambda x: getattr(F, name)(x, REGIONS, IMAGES, (3, 2), 0.75, ratio), x)


def test_regions_that_name_their_image():
    rois = np.concatenate([IMAGES[:, None], REGIONS], axis=1).astype(np.float32)
    x = np.random.randn(2, 3, 12, 10).astype(np.float32)
    x[0, 0, 3, 3] = np.nan
    check(lambda x: F.roi_pooling_2d(x, rois, 3, 2, 0.75), x)


def test_images_out_of_range_are_refused(with_numba):
    x = np.zeros((2, 3, 12, 10), np.float32)
    with pytest.raises(IndexError, match="expected indexes less than 2, the number of images"):
        F.roi_max_pooling_2d(x, REGIONS, IMAGES + 2, 3, 1.0)
    with pytest.raises(ValueError, match="must be finite"):
        F.roi_max_pooling_2d(x, REGIONS * np.float32(np.nan), IMAGES, 3, 1.0)
