"""Pooling of regions: numbers of release 7.8.1, edges, arguments, attributes of nodes."""

import numpy as np
import pytest

import chainer.functions as F
from chainer import Variable

NAMES = [f"roi_{k}_{how}_2d" for how in ("pooling", "align") for k in ("average", "max")]
X = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
ROIS = np.array([[0, 0, 4, 4], [1, 2, 6.4, 7.2]], np.float32)
IMAGES = np.zeros(2, np.int32)


@pytest.mark.parametrize(
    ("name", "ratio", "expected"),
    [
        (
            "roi_average_pooling_2d",
            (),
            [[[4.5, 5.5, 6.5], [20.5, 21.5, 22.5]], [[18.5, 20, 21.5], [34.5, 36, 37.5]]],
        ),
        ("roi_max_pooling_2d", (), [[[9, 10, 11], [25, 26, 27]], [[27, 29, 30], [43, 45, 46]]]),
        (
            "roi_average_align_2d",
            (None,),
            [
                [[8.66667, 10, 11.33333], [24.66667, 26, 27.33333]],
                [[21.66667, 23.4, 25.13333], [43.26667, 45, 46.73333]],
            ],
        ),
        (
            "roi_max_align_2d",
            (2,),
            [
                [[13, 14.33333, 15.66667], [29, 30.33333, 31.66667]],
                [[27.5, 29.23333, 30.96667], [49.1, 50.83333, 52.56667]],
            ],
        ),
    ],
)
def test_numbers(name, ratio, expected):
    y = getattr(F, name)(X, ROIS, IMAGES, (2, 3), 1.0, *ratio)
    np.testing.assert_allclose(y.array[:, 0], expected, rtol=1e-5)


def test_samples_at_the_border():
    """Less than a pixel outside a sample is on the border, further outside it is zero."""
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    rois = np.array([[-1, -1, 1, 1], [3, 3, 6, 6]], np.float32)
    y = F.roi_average_align_2d(x, rois, IMAGES, 2, 1.0, 1)
    assert y.array[:, 0].tolist() == [[[0, 0.5], [2, 2.5]], [[15, 0], [0, 0]]]
    y = F.roi_max_align_2d(x, rois, IMAGES, 2, 1.0, 1)
    assert y.array[1, 0].tolist() == [[15, -np.inf], [-np.inf, -np.inf]]


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("roi_average_pooling_2d", 0),
        ("roi_max_pooling_2d", -np.inf),
        ("roi_average_align_2d", 0),
        ("roi_max_align_2d", -np.inf),
    ],
)
@pytest.mark.parametrize("double", [False, True])
def test_regions_outside_of_the_image(name, empty, double):
    x = Variable(X)
    y = getattr(F, name)(x, np.array([[20, 20, 24, 24]], np.float32), IMAGES[:1], 2, 1.0)
    assert (y.array == empty).all()
    y.grad = np.ones_like(y.array)
    y.backward(enable_double_backprop=double)
    assert not x.grad.any()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_a_number_stays_in_its_bins(name):
    x = X.copy()
    x[0, 0, 0, 0] = np.nan
    y = getattr(F, name)(x, ROIS[:1], IMAGES[:1], 4, 1.0).array[0, 0]
    assert np.isfinite(y[1:, 1:]).all()
    assert np.isnan(y[0, 0])


@pytest.mark.parametrize("name", NAMES)
def test_images_without_channels_or_pixels(name):
    function = getattr(F, name)
    assert function(X[:, :0], ROIS, IMAGES, 2, 1.0).shape == (2, 0, 2, 2)
    assert function(X[:, :, :0], ROIS, IMAGES, 2, 1.0).shape == (2, 1, 2, 2)


@pytest.mark.parametrize("name", NAMES)
def test_number_of_an_image_out_of_range(name):
    with pytest.raises(IndexError, match="indexes less than 1, .*got 1 for region 0"):
        getattr(F, name)(X, ROIS, IMAGES + 1, 2, 1.0)
    function = getattr(F, name)
    assert (
        function(X, ROIS, IMAGES - 1, 2, 1.0).array == function(X, ROIS, IMAGES, 2, 1.0).array
    ).all()


@pytest.mark.parametrize("name", NAMES)
def test_regions_get_no_gradient(name):
    x, rois = Variable(X), Variable(ROIS)
    for needed in (True, False):
        x = Variable(X, requires_grad=needed)
        for double in (False, True):
            y = getattr(F, name)(x, rois, IMAGES, 2, 1.0)
            y.grad = np.ones_like(y.array)
            y.backward(enable_double_backprop=double)
            assert rois.grad is None
        assert (x.grad is not None) == needed


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_numpy_as_arguments(name):
    y = getattr(F, name)(X, ROIS, IMAGES, np.int64(2), np.float32(1))
    expected = getattr(F, name)(X, ROIS, IMAGES, [2, 2], 1)
    assert (y.array == expected.array).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("outsize", "scale", "match"),
    [
        (2.0, 1.0, r"outsize\[0\] must be positive integer: <class 'float'>, 2.0"),
        ((2, 0), 1.0, r"outsize\[1\] must be positive integer"),
        (None, 1.0, r"outsize\[0\] must be positive integer"),
        (2, 0.0, "spatial_scale must be a positive float number: <class 'float'>, 0.0"),
        (2, "1", "spatial_scale must be a positive float number"),
    ],
)
def test_wrong_arguments(name, outsize, scale, match):
    with pytest.raises(TypeError, match=match):
        getattr(F, name)(X, ROIS, IMAGES, outsize, scale)


def test_outsize_of_another_length():
    with pytest.raises(ValueError, match="outsize must be an int or a pair of ints"):
        F.roi_max_pooling_2d(X, ROIS, IMAGES, (2, 2, 2), 1.0)


@pytest.mark.parametrize("name", NAMES[2:])
@pytest.mark.parametrize("ratio", [0, -1, 1.0, "a", (2,), (None, 0)])
def test_wrong_sampling_ratio(name, ratio):
    with pytest.raises(TypeError, match="sampling_ratio must be integer >= 1 or a pair of it"):
        getattr(F, name)(X, ROIS, IMAGES, 2, 1.0, ratio)


def test_position_of_the_first_maximum():
    x = np.zeros((1, 1, 4, 4), np.float32)
    rois = np.array([[0, 0, 4, 4], [0, 0, 4, 20]], np.float32)
    node = F.roi_max_pooling_2d(Variable(x), rois, IMAGES, 2, 1.0).creator
    assert node.argmax_data.dtype == np.int32
    assert node.argmax_data[:, 0].tolist() == [[[0, 2], [8, 10]], [[0, -1], [8, -1]]]


@pytest.mark.parametrize("name", NAMES)
def test_classes(name):
    """In release 7 these were old-style functions, which are called."""
    module = getattr(F.pooling, name)
    (cls,) = [
        c
        for c in vars(module).values()
        if getattr(c, "__module__", "") == module.__name__ and isinstance(c, type)
    ]
    node = cls((2, 3), 0.5)
    assert cls.__name__ == "ROI" + name[4:-3].title().replace("_", "") + "2D"
    assert (node.outh, node.outw, node.spatial_scale) == (2, 3, 0.5)
    expected = getattr(F, name)(X, ROIS, IMAGES, (2, 3), 0.5)
    assert (node(X, ROIS, IMAGES).array == expected.array).all()
    assert (cls((2, 3), 0.5).apply((X, ROIS, IMAGES))[0].array == expected.array).all()
    assert node.label == cls.__name__
