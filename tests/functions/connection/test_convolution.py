"""Convolutions: kernels, graphs, dtypes and modes beyond the table of operation specs."""

import random

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends.numpy.backend import backend
from chainer.backends.numpy.kernels import convolutions
from chainer.backends.numpy.kernels.convolutions import ConvolutionNDKernel
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.utils.conv import get_conv_outsize

KERNEL = ConvolutionNDKernel(backend)


def direct(x, W, out_size, geometry):
    """One output position after the other."""
    stride, pad, dilate, groups = geometry
    span = [(k - 1) * d + 1 for k, d in zip(W.shape[2:], dilate)]
    room = [
        max((m - 1) * s + w, n + p)
        for m, s, w, n, p in zip(out_size, stride, span, x.shape[2:], pad)
    ]
    padded = np.zeros((*x.shape[:2], *[r + p for r, p in zip(room, pad)]))
    padded[(..., *[slice(p, p + n) for p, n in zip(pad, x.shape[2:])])] = x
    y = np.zeros((len(x), len(W), *out_size))
    c, o = x.shape[1] // groups, len(W) // groups
    for place in np.ndindex(*out_size):
        cut = tuple(slice(t * s, t * s + w, d) for t, s, w, d in zip(place, stride, span, dilate))
        for g in range(groups):
            patch = padded[(slice(None), slice(g * c, (g + 1) * c), *cut)].reshape(len(x), -1)
            y[(slice(None), slice(g * o, (g + 1) * o), *place)] = (
                patch @ W[g * o : (g + 1) * o].reshape(o, -1).T
            )
    return y


def random_geometries(count):
    rng = random.Random(0)
    while count:
        n = rng.choice((1, 2, 2, 3))
        groups = rng.choice((1, 1, 2))
        sizes = [
            (
                rng.randint(1, 4),
                rng.randint(1, 3),
                rng.randint(0, 4),
                rng.choice((1, 1, 2)),
                rng.randint(1, 9 if n < 3 else 5),
                rng.random() < 0.5,
            )
            for _ in range(n)
        ]
        out_size = tuple(get_conv_outsize(m, k, s, p, c, d) for k, s, p, d, m, c in sizes)
        if min(out_size) > 0:
            count -= 1
            ksize, stride, pad, dilate, in_size, _ = zip(*sizes)
            channels = groups * rng.randint(1, 3), groups * rng.randint(1, 4)
            yield channels, in_size, out_size, ksize, stride, pad, dilate, groups


def test_kernel_on_random_geometries():
    rng = np.random.default_rng(0)
    for geometry in random_geometries(150):
        (c, o), in_size, out_size, ksize, stride, pad, dilate, groups = geometry
        x = rng.normal(size=(2, c, *in_size))
        W = rng.normal(size=(o, c // groups, *ksize))
        gy = rng.normal(size=(2, o, *out_size))
        windows = ConvolutionGeometry(stride, pad, dilate, groups)
        y = KERNEL.forward(x, W, None, out_size, windows)
        np.testing.assert_allclose(
            y, direct(x, W, out_size, windows), atol=1e-10, err_msg=repr(geometry)
        )
        # Both gradients are adjoints of a bilinear function.
        product = (y * gy).sum()
        gx = KERNEL.backward_data(gy, W, None, in_size, windows)
        gW = KERNEL.backward_weight(x, gy, ksize, W.dtype, windows)
        np.testing.assert_allclose((gx * x).sum(), product, atol=1e-9, err_msg=repr(geometry))
        np.testing.assert_allclose((gW * W).sum(), product, atol=1e-9, err_msg=repr(geometry))


def test_many_blocks_of_samples(monkeypatch):
    rng = np.random.default_rng(0)
    x, W = rng.normal(size=(7, 2, 12, 11)), rng.normal(size=(3, 2, 3, 3))
    gy = rng.normal(size=(7, 3, 6, 6))
    windows = ConvolutionGeometry((2, 2), (1, 1), (1, 1))

    def run():
        return (
            KERNEL.forward(x, W, None, (6, 6), windows),
            KERNEL.backward_data(gy, W, None, (12, 11), windows),
            KERNEL.backward_weight(x, gy, (3, 3), W.dtype, windows),
        )

    whole = run()
    for few in (0, 1000):  # one sample at a time, then side by side
        monkeypatch.setattr("chainer.backends.numpy.kernels.convolutions._BLOCK_BYTES", 3 * 8 * 648)
        monkeypatch.setattr("chainer.backends.numpy.kernels.convolutions._FEW_POSITIONS", few)
        for one, other in zip(whole, run()):
            np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("stride", "dilate", "pad"), [(2, 1, 1), (1, 1, 0), (1, 2, 2), (3, 1, 2)])
def test_samples_or_channels_last_in_memory(stride, dilate, pad, groups, dtype, monkeypatch):
    # Against a correlation that is written out; blocks of 9 and 8 samples, and channels on both
    # sides of the limits.
    rng = np.random.default_rng(0)
    x = rng.normal(size=(17, 8, 7, 7)).astype(dtype)
    W = rng.normal(size=(6, 8 // groups, 3, 3)).astype(dtype)
    geometry = ConvolutionGeometry((stride,) * 2, (pad,) * 2, (dilate,) * 2, groups)
    size = (7 + 2 * pad - 2 * dilate - 1) // stride + 1
    padded = np.pad(x.astype("d"), ((0, 0), (0, 0), (pad, pad + stride), (pad, pad + stride)))
    y, gx, gW = np.zeros((17, 6, size, size)), np.zeros_like(padded), np.zeros(W.shape)
    gy = rng.normal(size=y.shape).astype(dtype)
    each_in, each_out = 8 // groups, 6 // groups
    for g, i, j in np.ndindex(groups, 3, 3):
        channels, filters = (slice(g * n, g * n + n) for n in (each_in, each_out))
        rows, columns = (slice(k * dilate, k * dilate + stride * size, stride) for k in (i, j))
        windows = padded[:, channels, rows, columns]
        weight, errors = W[filters, :, i, j].astype("d"), gy[:, filters].astype("d")
        y[:, filters] += np.einsum("nchw,oc->nohw", windows, weight)
        gx[:, channels, rows, columns] += np.einsum("nohw,oc->nchw", errors, weight)
        gW[filters, :, i, j] = np.einsum("nohw,nchw->oc", errors, windows)
    gx = gx[:, :, pad : pad + 7, pad : pad + 7]
    patches_of_sample = 8 * 9 * size * size * np.dtype("d" if dtype == "float64" else "f").itemsize
    # Sums of at most 17 * 49 products of size 1, and one rounding to the dtype.
    tolerance = 17 * 49 * np.finfo("f" if dtype == "float16" else dtype).eps
    rounding = np.finfo(dtype).eps
    for nbytes in (1 << 20, 9 * patches_of_sample):
        monkeypatch.setattr(convolutions, "_BLOCK_BYTES", nbytes)
        for found, expected in (
            (KERNEL.forward(x, W, None, (size, size), geometry), y),
            (KERNEL.backward_data(gy, W, None, (7, 7), geometry), gx),
            (KERNEL.backward_weight(x, gy, (3, 3), W.dtype, geometry), gW),
        ):
            assert found.dtype == dtype and found.flags.c_contiguous
            np.testing.assert_allclose(found, expected, atol=tolerance, rtol=rounding)


def test_labels_of_the_graph():
    x = chainer.Variable(np.ones((1, 2, 4, 4), "f"))
    W = chainer.Variable(np.ones((3, 2, 3, 3), "f"))
    y = F.convolution_2d(x, W)
    assert y.creator.label == "Convolution2DFunction"
    gx, gW = chainer.grad([y], [x, W], enable_double_backprop=True)
    assert gx.creator.label == "Deconvolution2DFunction"
    assert gW.creator.label == "Convolution2DGradW"
    assert F.deconvolution_2d(x, W.array[:2]).creator.label == "Deconvolution2DFunction"
    assert F.convolution_nd(x, W).creator.label == "ConvolutionND"
    assert F.deconvolution_nd(x, W.array[:2]).creator.label == "DeconvolutionND"


def test_names_of_the_geometry():
    x = np.ones((1, 4, 9, 9), "f")
    W = np.ones((4, 2, 3, 3), "f")
    y = F.convolution_2d(
        chainer.Variable(x), W, stride=(1, 2), pad=(3, 4), dilate=(1, 2), groups=2, cover_all=True
    )
    f = y.creator
    assert (f.sy, f.sx, f.ph, f.pw, f.dy, f.dx) == (1, 2, 3, 4, 1, 2)
    assert f.groups == 2
    assert f.cover_all is True


@pytest.mark.parametrize("function", [F.convolution_2d, F.convolution_nd])
def test_weight_of_another_dtype(function):
    x = chainer.Variable(np.ones((1, 1, 3, 3), "f"))
    W = chainer.Variable(np.ones((1, 1, 2, 2), "d"))
    y = function(x, W)
    assert y.dtype == np.float32
    y.grad = np.ones_like(y.array)
    y.backward()
    assert x.grad.dtype == np.float32
    assert W.grad.dtype == np.float64
    np.testing.assert_array_equal(W.grad, [[[[4, 4], [4, 4]]]])


def test_halves_are_accumulated_in_single_precision():
    # The 1024 products of 2 ** -11 would vanish next to a one in half precision.
    x = np.full((1, 1025, 1, 1), 2**-11, np.float16)
    x[0, 0] = 1
    y = F.convolution_2d(x, np.ones((1, 1025, 1, 1), np.float16))
    assert y.dtype == np.float16
    assert y.array.item() == 1.5


def test_groups_are_convolutions_of_their_own():
    rng = np.random.default_rng(0)
    x, W, b = rng.normal(size=(2, 4, 5, 5)), rng.normal(size=(6, 2, 3, 3)), rng.normal(size=6)
    y = F.convolution_2d(x, W, b, groups=2).array
    for g in range(2):
        part = F.convolution_2d(x[:, 2 * g : 2 * g + 2], W[3 * g : 3 * g + 3], b[3 * g : 3 * g + 3])
        np.testing.assert_allclose(y[:, 3 * g : 3 * g + 3], part.array)


def test_removed_and_unknown_arguments():
    x, W = np.ones((1, 1, 3, 3), "f"), np.ones((1, 1, 3, 3), "f")
    for function in (F.convolution_2d, F.deconvolution_2d):
        with pytest.raises(ValueError, match="chainer.using_config\\('cudnn_deterministic', value"):
            function(x, W, deterministic=True)
        with pytest.raises(TypeError, match="unexpected keyword argument .foo."):
            function(x, W, foo=1)


def test_outsize_must_be_a_tuple():
    with pytest.raises(TypeError, match="outsize"):
        F.deconvolution_2d(np.ones((1, 1, 3, 3), "f"), np.ones((1, 1, 3, 3), "f"), outsize=7)


def test_depthwise_does_not_need_the_bias_for_its_gradients():
    x = chainer.Variable(np.ones((1, 2, 3, 3), "f"))
    W = chainer.Variable(np.ones((1, 2, 3, 3), "f"))
    y = F.depthwise_convolution_2d(x, W, np.ones(2, "f"))  # the bias is gone after the call
    gx, gW = chainer.grad([y], [x, W], enable_double_backprop=True)
    np.testing.assert_array_equal(gx.array, np.ones_like(x.array))
    (ggx,) = chainer.grad([gW], [x])
    assert ggx.shape == x.shape


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("size", [5, 12])  # few positions, and many
@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("groups_at_once", [1, 3])
def test_groups_are_divided_if_their_patches_need_much_memory(
    monkeypatch, dtype, size, samples, groups_at_once
):
    """Each group is computed as a convolution of its own is, bit by bit."""
    groups, inputs, filters = 7, 2, 3
    random = np.random.RandomState(0)
    x = random.randn(samples, groups * inputs, size, size).astype(dtype)
    W = random.randn(groups * filters, inputs, 3, 3).astype(dtype)
    b = random.randn(groups * filters).astype(dtype)
    gy = random.randn(samples, groups * filters, size, size).astype(dtype)

    def gradients(x, W, b, gy, groups):
        arrays = [chainer.Variable(a) for a in (x, W, b)]
        y = F.convolution_2d(*arrays, pad=1, groups=groups)
        return [y.array, *[g.array for g in chainer.grad([y], arrays, [gy])]]

    expected = gradients(x, W, b, gy, groups)
    itemsize = 8 if dtype == "float64" else 4
    block = groups_at_once * inputs * 9 * size * size * itemsize
    monkeypatch.setattr(convolutions, "_BLOCK_BYTES", block)
    found = gradients(x, W, b, gy, groups)
    each = [
        gradients(
            x[:, i * inputs : (i + 1) * inputs],
            *[a[i * filters : (i + 1) * filters] for a in (W, b)],
            gy[:, i * filters : (i + 1) * filters],
            1,
        )
        for i in range(groups)
    ]
    for n, axis in enumerate((1, 1, 0, 0)):
        assert found[n].dtype == dtype
        np.testing.assert_allclose(found[n], expected[n], rtol=2e-2 if dtype == "float16" else 1e-3)
        if samples == 1:  # else the sums over samples are made in other blocks
            np.testing.assert_array_equal(found[n], expected[n])
            np.testing.assert_array_equal(
                found[n], np.concatenate([parts[n] for parts in each], axis=axis)
            )


def test_groups_without_samples(monkeypatch):
    monkeypatch.setattr(convolutions, "_BLOCK_BYTES", 64)
    x = chainer.Variable(np.zeros((0, 6, 4, 4), "f"))
    W = chainer.Variable(np.zeros((9, 2, 3, 3), "f"))
    y = F.convolution_2d(x, W, groups=3)
    assert y.shape == (0, 9, 2, 2)
    y.grad = np.zeros(y.shape, "f")
    y.backward()
    np.testing.assert_array_equal(W.grad, 0)


@pytest.mark.parametrize("name", ["convolution_2d", "deconvolution_2d"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_samples_with_weights_and_biases_of_their_own(name, dtype):
    random = np.random.RandomState(0)
    x, W, b, gy = [
        random.randn(5, *shape).astype(dtype)
        for shape in ((2, 3, 6, 6), (4, 3, 3, 3), (4,), (2, 4, 6, 6))
    ]
    if name == "deconvolution_2d":
        W = W.swapaxes(1, 2)

    def gradients(x, W, b, gy):
        y, pullback = chainer.vjp(lambda *xs: getattr(F, name)(*xs, pad=1), x, W, b)
        return (y, *pullback(gy))

    found = chainer.vmap(gradients)(x, W, b, gy)
    tolerance = 2e-2 if dtype == "float16" else 1e-4
    for i in range(5):
        for each, expected in zip(found, gradients(x[i], W[i], b[i], gy[i]), strict=True):
            assert each.dtype == dtype
            np.testing.assert_allclose(
                each.array[i], expected.array, rtol=tolerance, atol=tolerance * 10
            )
