"""Pooling: ties, not-a-number, padding, indices and graphs."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.core.arrays.kernel import get_operation


def images(*values):
    return np.array(values, "f")[None, None]


def gradient(function, x, **kwargs):
    x = chainer.Variable(x)
    y = function(x, **kwargs)
    y.grad = np.ones_like(y.array)
    y.backward()
    return x.grad


class TestMaxPooling:
    def test_first_of_equal_maxima_gets_the_gradient(self):
        x = images([1, 4], [4, 4])
        _, indices = F.max_pooling_2d(x, 2, return_indices=True)
        assert indices.tolist() == [[[[1]]]]
        assert isinstance(indices, np.ndarray)
        np.testing.assert_array_equal(
            gradient(F.max_pooling_2d, x, ksize=2), images([0, 1], [0, 0])
        )

    @pytest.mark.parametrize("ksize", [2, 3])
    def test_ties_in_row_major_order(self, ksize):
        rng = np.random.default_rng(0)
        x = rng.integers(0, 3, (2, 2, 7, 8)).astype("f")
        y, indices = F.max_pooling_2d(x, ksize, stride=1, cover_all=False, return_indices=True)
        for place in np.ndindex(*y.shape):
            n, c, i, j = place
            window = x[n, c, i : i + ksize, j : j + ksize]
            assert indices[place] == window.argmax()

    def test_not_a_number_wins(self):
        x = images([1, np.nan], [3, 4])
        y, indices = F.max_pooling_2d(x, 2, return_indices=True)
        assert np.isnan(y.array).all()
        assert indices.item() == 1
        np.testing.assert_array_equal(
            gradient(F.max_pooling_2d, x, ksize=2), images([0, 1], [0, 0])
        )

    def test_padding_is_minus_infinity(self):
        x = -np.ones((1, 1, 4, 4), "f")
        y, indices = F.max_pooling_2d(x, 3, 2, 2, return_indices=True)
        expected = np.full((4, 4), -1.0)
        expected[3] = expected[:, 3] = -np.inf
        np.testing.assert_array_equal(y.array[0, 0], expected)
        assert indices[0, 0].tolist() == [[8, 6, 6, 0], [2, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]]
        assert gradient(F.max_pooling_2d, x, ksize=3, stride=2, pad=2).sum() == 9

    def test_whole_image(self):
        x = np.random.default_rng(0).normal(size=(2, 3, 7, 7)).astype("f")
        np.testing.assert_array_equal(F.max_pooling_2d(x, 7).array[..., 0, 0], x.max(axis=(2, 3)))

    def test_large_window(self):
        # More than 256 elements: indices do not fit into bytes.
        x = np.random.default_rng(0).permutation(20 * 20).reshape(1, 1, 20, 20).astype("f")
        _, indices = F.max_pooling_2d(x, 18, stride=1, cover_all=False, return_indices=True)
        for i, j in np.ndindex(3, 3):
            assert indices[0, 0, i, j] == x[0, 0, i : i + 18, j : j + 18].argmax()

    def test_indices_serve_upsampling(self):
        x = np.random.default_rng(0).normal(size=(2, 3, 5, 6)).astype("f")
        y, indices = F.max_pooling_2d(x, 2, cover_all=True, return_indices=True)
        up = F.upsampling_2d(y, indices, 2, outsize=(5, 6)).array
        np.testing.assert_array_equal(up[up != 0], x[up != 0])
        np.testing.assert_array_equal(F.max_pooling_2d(np.where(up, up, -9), 2).array, y.array)

    def test_indices_without_a_graph(self):
        with chainer.no_backprop_mode():
            _, indices = F.max_pooling_2d(images([1, 2], [4, 3]), 2, return_indices=True)
        assert indices.item() == 2


def test_names_of_nodes():
    x = chainer.Variable(np.ones((1, 1, 4, 4), "f"))
    f = F.max_pooling_2d(x, (2, 3), (1, 2), (0, 1)).creator
    assert f.label == "MaxPooling2D"
    assert (f.kh, f.kw, f.sy, f.sx, f.ph, f.pw, f.cover_all) == (2, 3, 1, 2, 0, 1, True)
    assert isinstance(f, F.MaxPooling2D)
    assert F.average_pooling_2d(x, 2).creator.label == "AveragePooling2D"
    assert F.unpooling_2d(x, 2).creator.label == "Unpooling2D"
    indices = np.zeros((1, 1, 4, 4), int)
    assert F.upsampling_2d(x, indices, 2).creator.label == "Upsampling2D"


@pytest.mark.parametrize("function", [F.max_pooling_nd, F.average_pooling_nd, F.unpooling_nd])
def test_functions_of_many_dimensions_do_not_warn(function):
    """Until release 4 they were experimental and said so; here warnings are errors."""
    function(np.ones((1, 1, 4), "f"), 2)


@pytest.mark.parametrize("ndim", [1, 3])
@pytest.mark.parametrize("name", ["max_pooling", "average_pooling", "unpooling"])
def test_number_of_spatial_dimensions(name, ndim):
    function = getattr(F, f"{name}_{ndim}d")
    for shape in ((1, 2, 4, 4), (2, 4), (4,)):
        actual = max(len(shape) - 2, 0)
        with pytest.raises(ValueError, match=f"should be {ndim}. But the actual ndim was {actual}"):
            function(np.ones(shape, np.float32), 2)
    x = np.ones((1, 2, *[4] * ndim), np.float32)
    node = function(x, 2, 1, 1).creator
    assert (node.ndim, node.ksize, node.stride, node.pad) == (
        ndim,
        *[(k,) * ndim for k in (2, 1, 1)],
    )


def test_indices_of_max_pooling_1d():
    """Numbers of release 7.8.1."""
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
    y, indices = F.max_pooling_1d(x, (2,), (1,), (1,), True, True)
    assert y.array.tolist() == [[[0, 1, 2, 3, 4, 5, 5]]]
    assert indices.tolist() == [[[1, 1, 1, 1, 1, 1, 0]]]


def test_divisors_of_average_pooling_without_padding():
    """Numbers of release 7.8.1."""
    a, b, c = 2.0, 4.0, 9.0
    y = F.average_pooling_1d(np.array([[[a, b, c]]]), 3, 1, 2, pad_value=None)
    expected = [a, (a + b) / 2, (a + b + c) / 3, (b + c) / 2, c]
    np.testing.assert_allclose(y.array[0, 0], expected)


def test_padding_that_does_not_count():
    y = F.average_pooling_nd(np.ones((1, 1, 5, 4), "f"), 3, 2, 1, pad_value=None)
    np.testing.assert_allclose(y.array, 1)


def test_halves_are_averaged_in_single_precision():
    x = np.full((1, 1, 64, 64), 0.5, "e")
    x[0, 0, 0] = 60000  # the sum exceeds the largest half
    y = F.average_pooling_2d(x, 64)
    assert y.dtype == np.float16
    assert y.array.item() == np.float16((60000 + 63 * 0.5) / 64)


class TestPyramid:
    def test_class_of_an_earlier_release(self):
        x = np.random.default_rng(0).normal(size=(1, 2, 5, 6)).astype("f")
        with pytest.warns(DeprecationWarning, match="pooling_class argument is deprecated"):
            y = F.spatial_pyramid_pooling_2d(x, 2, F.MaxPooling2D)
        np.testing.assert_array_equal(
            y.array, F.spatial_pyramid_pooling_2d(x, 2, pooling="max").array
        )
        with (
            pytest.raises(ValueError, match="Unsupported"),
            pytest.warns(DeprecationWarning, match="deprecated"),
        ):
            F.spatial_pyramid_pooling_2d(x, 2, F.AveragePooling2D)

    def test_both_arguments(self):
        with pytest.raises(ValueError, match="either using the pooling_class or the pooling"):
            F.spatial_pyramid_pooling_2d(np.ones((1, 1, 4, 4), "f"), 1, F.MaxPooling2D, "max")


class TestROIPooling:
    x = np.arange(24, dtype="f").reshape(1, 1, 4, 6)

    def test_region_outside_the_image_is_empty(self):
        rois = np.array([[0, 10, 10, 12, 12]], "f")
        y = F.roi_pooling_2d(self.x, rois, 2, 2, 1.0)
        np.testing.assert_array_equal(y.array, np.zeros((1, 1, 2, 2)))
        g = gradient(lambda x: F.roi_pooling_2d(x, rois, 2, 2, 1.0), self.x)
        assert not g.any()

    def test_overlapping_regions_add_up(self):
        rois = np.array([[0, 0, 0, 5, 3], [0, 2, 2, 5, 3]], "f")
        g = gradient(lambda x: F.roi_pooling_2d(x, rois, 1, 1, 1.0), self.x)
        assert g[0, 0, 3, 5] == 2
        assert g.sum() == 2

    @pytest.mark.parametrize("shape", [(7, 18), (8, 16), (127, 1), (3, 43), (150, 219), (190, 180)])
    def test_images_of_many_positions(self, shape):
        """Positions are kept in integers that are just large enough; the maximum is the last."""
        x = np.arange(np.prod(shape), dtype="f").reshape(1, 1, *shape)
        rois = np.array([[0, 0, 0, shape[1] - 1, shape[0] - 1]], "f")
        y = F.roi_pooling_2d(x, rois, 1, 1, 1.0)
        assert y.array.item() == x[0, 0, -1, -1]
        assert y.creator_node.argmax_data.item() == x.size - 1
        g = gradient(lambda x: F.roi_pooling_2d(x, rois, 1, 1, 1.0), x)
        assert g[0, 0, -1, -1] == 1
        assert g.sum() == 1

    def test_batch_index_out_of_range(self):
        rois = np.array([[0, 0, 0, 1, 1], [3, 0, 0, 1, 1]], "f")
        with pytest.raises(
            IndexError, match=r"^rois: .*column 0.* less than 1.* got 3 for region 1"
        ):
            F.roi_pooling_2d(self.x, rois, 1, 1, 1.0)


def test_another_kernel_may_keep_a_residual():
    """Max pooling hands what forward of a kernel returned to its backward, and nothing else."""
    operation = get_operation("max_pooling_nd")
    reference = operation.reference_for(chainer.get_device("@numpy").backend)

    class Recording:
        def forward(self, *args):
            return reference.forward(*args)[0], "workspace"

        def backward(self, x, y, gy, residual, *geometry):
            assert residual == "workspace"
            return reference.backward(x, y, gy, None, *geometry)

    x = chainer.Variable(images([1, 2], [4, 3]))
    node = F.MaxPooling2D(2)
    (y,) = node.apply((x,))
    node._kernel, node._residual = Recording(), "workspace"
    y.backward()
    np.testing.assert_array_equal(x.grad, images([0, 0], [1, 0]))
