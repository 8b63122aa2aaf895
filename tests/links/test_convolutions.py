"""Convolution links: one and three dimensions, links made of given parameters."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from tests.links.link_cases import floats


class TestFixedNumberOfDimensions:
    @pytest.mark.parametrize(
        ("name", "ndim", "shape"),
        [
            ("Convolution1D", 1, (2, 4, 9)),
            ("Convolution3D", 3, (2, 4, 6, 5, 7)),
            ("Deconvolution1D", 1, (2, 4, 5)),
            ("Deconvolution3D", 3, (2, 4, 3, 4, 3)),
        ],
    )
    def test_is_the_general_link(self, name, ndim, shape):
        general = getattr(L, name[:-2] + "ND")
        x = floats(*shape)
        arguments = dict(stride=2, pad=1, initialW=None, initial_bias=0.5, dilate=2, groups=2)
        np.random.seed(0)
        link = getattr(L, name)(4, 6, 2, **arguments)
        np.random.seed(0)
        expected = general(ndim, 4, 6, 2, **arguments)
        assert isinstance(link, general)
        assert link.ndim == ndim
        np.testing.assert_array_equal(link(x).array, expected(x).array)
        for lazy in (getattr(L, name)(None, 6, 2, **arguments), getattr(L, name)(6, 2, None)):
            assert lazy.W.array is None
            assert lazy.ksize == (2,) * ndim
            assert lazy(x).shape[1] == 6
            assert lazy.in_channels == 4

    def test_special_arguments(self):
        x = floats(1, 2, 6)
        assert L.Convolution1D(2, 3, 2, 2, 0, True, None, None, True)(x).shape == (1, 3, 3)
        assert L.Deconvolution1D(2, 3, 2, 1, 0, True, (7,))(x).shape == (1, 3, 7)
        with pytest.raises(TypeError, match="ksize"):
            L.Convolution1D(2, 3)
        with pytest.raises(ValueError, match="divide in_channels"):
            L.Convolution3D(3, 4, 3, groups=2)


class TestFromParams:
    def test_linear(self):
        W, b = np.arange(6.0).reshape(2, 3), np.arange(2.0)
        link = L.Linear.from_params(W, b)
        assert (link.in_size, link.out_size) == (3, 2)
        assert link.W.dtype == link.b.dtype == np.float32
        np.testing.assert_array_equal(link.W.array, W)
        np.testing.assert_array_equal(link.b.array, b)
        assert not np.shares_memory(link.W.array, W)
        assert L.Linear.from_params(W).b.array.tolist() == [0, 0]
        assert L.Linear.from_params(W, nobias=True).b is None
        assert L.Linear.from_params(W, b, nobias=True).b is None
        with chainer.using_config("dtype", np.float64):
            assert L.Linear.from_params(W.astype(np.float32)).W.dtype == np.float64
        variable = L.Linear.from_params(chainer.Parameter(W), chainer.Variable(b))
        np.testing.assert_array_equal(variable.W.array, W)
        assert variable.W.array is not W

        class Derived(L.Linear):
            pass

        assert type(Derived.from_params(W)) is Derived

    def test_convolution_2d(self):
        W, b, x = floats(4, 3, 2, 3), floats(4), floats(2, 6, 7, 8)
        link = L.Convolution2D.from_params(W, b, 2, (1, 0), dilate=2, groups=2)
        assert (link.in_channels, link.out_channels, link.ksize) == (6, 4, (2, 3))
        expected = F.convolution_2d(x, W, b, 2, (1, 0), dilate=2, groups=2)
        np.testing.assert_array_equal(link(x).array, expected.array)
        assert L.Convolution2D.from_params(W, nobias=True).b is None

    @pytest.mark.parametrize("kind", [L.ConvolutionND, L.Convolution1D])
    def test_convolution_nd(self, kind):
        W, b, x = floats(4, 3, 2), floats(4), floats(2, 6, 7)
        link = kind.from_params(W, b, 2, 1, cover_all=True, dilate=2, groups=2)
        assert type(link) is kind
        assert (link.ndim, link.in_channels, link.out_channels, link.ksize) == (1, 6, 4, (2,))
        expected = F.convolution_nd(x, W, b, 2, 1, cover_all=True, dilate=2, groups=2)
        np.testing.assert_array_equal(link(x).array, expected.array)

    def test_embed_id(self):
        W = floats(5, 3)
        link = L.EmbedID.from_params(W, ignore_label=2)
        assert link.ignore_label == 2
        np.testing.assert_array_equal(link.W.array, W)
        assert link.W.array is not W

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: L.Linear.from_params(floats(2, 3), floats(3)), ValueError, "`out_size` does"),
            (lambda: L.Linear.from_params([[1, 2]]), AttributeError, "shape"),
            (lambda: L.Linear.from_params(floats(2, 3, 4)), ValueError, "unpack"),
            (
                lambda: L.Convolution2D.from_params(floats(4, 3, 2, 2), floats(3)),
                ValueError,
                "`out_channels` does not match the size of `b`",
            ),
            (
                lambda: L.Convolution2D.from_params(floats(4, 3, 2, 2), foo=1),
                TypeError,
                "unexpected keyword",
            ),
            (
                lambda: L.Convolution3D.from_params(floats(4, 3, 2, 2)),
                ValueError,
                "W must have 3 spatial dimensions",
            ),
            (lambda: L.EmbedID.from_params(floats(2, 3, 4)), ValueError, "unpack"),
        ],
    )
    def test_errors(self, call, error, message):
        with pytest.raises(error, match=message):
            call()


def test_attributes_that_programs_read():
    link = L.Convolution2D(3, 4, (3, 2), dilate=2)
    assert (link.ksize, link.stride, link.pad, link.dilate) == ((3, 2), (1, 1), (0, 0), (2, 2))
    assert (link.in_channels, link.out_channels, link.groups) == (3, 4, 1)
    assert link.cudnn_fast is False
    assert link.x_layout is None
    assert L.Convolution2D(3, 4, 3).ksize == 3
    assert L.Deconvolution2D(3, 4, 3).outsize == (None, None)
    assert L.DeconvolutionND(1, 3, 4, 3).outsize is None
    assert str(L.Convolution2D(3, 4, 5)) == (
        "Convolution2D(in_channels=3, out_channels=4, ksize=5, stride=(1, 1), pad=(0, 0), "
        "nobias=False, dilate=(1, 1), groups=1)"
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_parameters_follow_the_default_dtype(dtype):
    with chainer.using_config("dtype", dtype):
        lazy = L.Convolution1D(None, 2, 3, initialW=np.float32(1), initial_bias=np.zeros(2))
        assert lazy.b.dtype == dtype
        lazy(np.zeros((1, 2, 5), dtype))
    assert lazy.W.dtype == dtype


class TestDeformableConvolution2D:
    def test_without_displacement_it_is_a_convolution(self):
        link = L.DeformableConvolution2D(
            3, 4, (2, 3), 2, 1, offset_initialW=0, deform_initialW=None, deform_initial_bias=0.5
        )
        x = floats(2, 3, 6, 5)
        np.testing.assert_array_equal(link(x).array, np.full((2, 4, 4, 3), 0.5))
        link.deform_conv.W.array[...] = floats(4, 3, 2, 3)
        expected = F.convolution_2d(x, link.deform_conv.W, link.deform_conv.b, 2, 1)
        np.testing.assert_allclose(link(x).array, expected.array, rtol=1e-5, atol=1e-5)

    def test_displacements_are_those_of_the_other_convolution(self):
        link = L.DeformableConvolution2D(1, 1, 1, offset_initialW=0, deform_initialW=1)
        link.offset_conv.b.array[:] = [1, 0]  # first along the width
        x = floats(1, 1, 3, 4)
        expected = np.pad(x[..., 1:], [(0, 0), (0, 0), (0, 0), (0, 1)])
        np.testing.assert_allclose(link(x).array, expected, rtol=1e-6)

    def test_sizes_and_biases(self):
        link = L.DeformableConvolution2D(None, 4, 3, offset_nobias=True, deform_nobias=True)
        assert link.offset_conv.W.array is link.deform_conv.W.array is None
        assert link.offset_conv.b is link.deform_conv.b is None
        assert link(floats(1, 2, 5, 5)).shape == (1, 4, 3, 3)
        assert sorted((path, param.shape) for path, param in link.namedparams()) == [
            ("/deform_conv/W", (4, 2, 3, 3)),
            ("/offset_conv/W", (18, 2, 3, 3)),
        ]
        assert not link.deform_conv.W.array.any()
        assert link.offset_conv.W.array.any()
