"""Functions of chainer.functions, as programs written for releases 4 to 7 call them."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.utils.type_check import InvalidType

X = np.ones((1, 1, 2, 2), "f")
W = np.ones((1, 1, 5, 5), "f")


def gradients_of(function, x, gy):
    """Returns the first gradient, and that of its scalar product with itself by ``gy``."""
    x, gy = chainer.Variable(x), chainer.Variable(gy)
    (gx,) = chainer.grad([function(x)], [x], [gy], enable_double_backprop=True)
    (ggy,) = chainer.grad([F.sum(gx * gx)], [gy])
    return gx.array, ggy.array


@pytest.mark.parametrize(("repeats", "axis"), [((True,), 0), ((True,), None), (True, 1)])
def test_repeat_by_a_bool(repeats, axis):
    """F.repeat takes True for 1, and differentiates."""
    x = np.arange(6, dtype="f").reshape(2, 3)
    y = F.repeat(x, repeats, axis)
    gx, _ = gradients_of(lambda x: F.repeat(x, repeats, axis), x, np.full(y.shape, 2, "f"))
    np.testing.assert_array_equal(gx, np.full((2, 3), 2))


@pytest.mark.parametrize("unpooling", [F.unpooling_2d, F.unpooling_nd])
@pytest.mark.parametrize(("pad", "size"), [(1, (1, 0)), (3, (0, 0))])
def test_unpooling_with_an_empty_output(unpooling, pad, size):
    """An unpooling whose padding leaves nothing gives an empty array, gradients included."""
    x = np.ones((2, 1, 3, 2), "f")
    y = unpooling(x, 1, 1, pad, cover_all=False)
    assert y.shape == (2, 1, *size)
    gx, ggy = gradients_of(
        lambda x: unpooling(x, 1, 1, pad, cover_all=False), x, np.ones(y.shape, "f")
    )
    assert gx.shape == x.shape
    assert not gx.any()
    assert ggy.shape == y.shape


def test_gumbel_softmax_without_axes():
    """F.gumbel_softmax of a 0-dimensional array is 1, that of one axis works with axis=0."""
    y = F.gumbel_softmax(np.array(-1, "f"), 0.1)
    assert (y.shape, y.dtype, float(y.array)) == ((), np.float32, 1.0)
    y = F.gumbel_softmax(np.log(np.full(3, 1 / 3, "f")), 0.5, axis=0)
    assert float(F.sum(y).array) == pytest.approx(1)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad_of_an_array_without_axes(mode):
    """F.pad by an integer leaves a 0-dimensional array as it is."""
    assert F.pad(np.array(3, "f"), 1, mode).array == 3
    gx, ggy = gradients_of(lambda x: F.pad(x, 1, mode), np.array(3, "f"), np.array(2, "f"))
    assert (gx, ggy) == (2, 4)


@pytest.mark.parametrize(
    ("dtype", "padding", "expected"), [("B", -1, 255), ("B", 300, 44), ("u4", -1, 2**32 - 1)]
)
def test_padding_of_unsigned_sequences_wraps_round(dtype, padding, expected):
    """F.pad_sequence casts a padding value that the dtype cannot hold."""
    y = F.pad_sequence([np.arange(3, dtype=dtype), np.arange(1, dtype=dtype)], padding=padding)
    np.testing.assert_array_equal(y.array, [[0, 1, 2], [0, expected, expected]])


def test_batch_renormalization_with_small_rmax():
    """rmax below 1 computes with a factor that is clipped from below first."""
    x = np.array([[0.0], [2.0]], "f")  # mean 1, standard deviation 1
    one, zero = np.ones(1, "f"), np.zeros(1, "f")
    y = F.batch_renormalization(
        x, one, zero, 0.5, 0, running_mean=zero.copy(), running_var=one.copy()
    )
    np.testing.assert_allclose(y.array, [[-2], [2]], rtol=1e-4)
    link = L.BatchRenormalization(1, rmax=0.5)
    np.testing.assert_allclose(link(x).array, [[-2], [2]], rtol=1e-4)


def test_zoneout_keeps_two_masks():
    """The creator of F.zoneout has the masks of both inputs."""
    h, x = np.arange(6, dtype="f"), -np.arange(6, dtype="f")
    y = F.zoneout(h, x, 0.5)
    masks = y.creator.flag_h, y.creator.flag_x
    np.testing.assert_array_equal(y.array, h * masks[0] + x * masks[1])
    np.testing.assert_array_equal(masks[0], ~masks[1])
    link = L.StatefulZoneoutLSTM(3, 2)
    link(np.ones((1, 3), "f"))
    assert hasattr(link(np.ones((1, 3), "f")).creator, "flag_h")


def test_swish_rounds_each_step_in_half_precision():
    """F.swish in float16 is x * F.sigmoid(beta * x), bit by bit."""
    random = np.random.RandomState(0)
    x = random.uniform(-5, 5, (1, 1000)).astype("e")
    beta = random.uniform(0.5, 2, 1000).astype("e")
    expected = x * F.sigmoid(beta * x).array
    np.testing.assert_array_equal(F.swish(x, beta).array, expected)


def test_gradient_of_tanh_is_a_function():
    """TanhGrad(x).apply((y, gy)) is the gradient of tanh as a differentiable function."""
    from chainer.functions.activation.tanh import TanhGrad

    y, gy = (chainer.Variable(np.array(v)) for v in ([0.5, -0.25], [2.0, 3.0]))
    (gx,) = TanhGrad(np.arctanh(y.array)).apply((y, gy))
    np.testing.assert_allclose(gx.array, gy.array * (1 - y.array**2))
    chainer.gradient_check.check_backward(
        lambda y, gy: TanhGrad(None).apply((y, gy))[0], (y.array, gy.array), np.ones(2)
    )


def test_fixed_batch_renormalization_is_deprecated():
    """F.fixed_batch_renormalization warns at every call."""
    x, one = np.ones((2, 3), "f"), np.ones(3, "f")
    for _ in range(2):
        with pytest.warns(DeprecationWarning, match="fixed_batch_normalization"):
            F.fixed_batch_renormalization(x, one, one, one, one)


@pytest.mark.parametrize("dtype", ["f", "i"])
def test_integer_class_weights(dtype):
    """Integer class weights are a ValueError, before any other check of the inputs."""
    x = np.ones((2, 3), dtype)
    with pytest.raises(ValueError, match="dtype of class_weight"):
        F.softmax_cross_entropy(x, np.array([0, 1]), class_weight=np.ones(3, "i"))


@pytest.mark.parametrize(
    "call",
    [
        lambda: F.convolution_2d(X, W),
        lambda: F.dilated_convolution_2d(X, W, dilate=2),
        lambda: F.depthwise_convolution_2d(X, W),
        lambda: F.convolution_nd(X, W),
        lambda: F.deconvolution_nd(X, np.ones((1, 1, 1, 1), "f"), pad=3),
        lambda: F.max_pooling_2d(X, 5, 1, cover_all=False),
        lambda: F.average_pooling_2d(X, 5, 1),
        lambda: F.max_pooling_nd(X, 5, 1, cover_all=False),
        lambda: F.average_pooling_nd(X, 5, 1),
        lambda: L.Convolution2D(1, 1, 5)(X),
    ],
)
def test_windows_without_an_output(call):
    """Convolutions and poolings whose output would be empty raise AssertionError."""
    with pytest.raises(AssertionError, match="should be positive") as info:
        call()
    assert isinstance(info.value, ValueError)


def test_deconvolution_without_an_output():
    """F.deconvolution_2d whose output would be empty raises RuntimeError."""
    with pytest.raises(RuntimeError, match="must be positive"):
        F.deconvolution_2d(X, np.ones((1, 1, 1, 1), "f"), pad=3)


@pytest.mark.parametrize("axes", [3, ((0, 1, 2), (0, 1, 2))])
def test_tensordot_of_too_many_axes(axes):
    """F.tensordot with more axes than dimensions raises ValueError."""
    with pytest.raises(ValueError, match="axis|dimension"):
        F.tensordot(np.ones((2, 3)), np.ones((3, 2)), axes)


@pytest.mark.parametrize("index", [(0, 0, 0), (0, 0, slice(None)), (None, 0, 0, Ellipsis, 0)])
def test_scatter_add_with_too_many_indexes(index):
    """F.scatter_add with more indexes than dimensions raises InvalidType."""
    with pytest.raises(InvalidType, match="ndim >= 3"):
        F.scatter_add(np.ones((2, 3), "f"), index, np.ones((), "f"))


def test_scatter_add_by_a_mask():
    """A mask counts as many dimensions as it has."""
    mask = np.array([[True, False], [False, True]])
    y = F.scatter_add(np.zeros((2, 2), "f"), (mask,), np.ones(2, "f"))
    np.testing.assert_array_equal(y.array, np.eye(2))


class TestDebugMode:
    @pytest.fixture(autouse=True, params=[False, True])
    def debug(self, request):
        with chainer.using_config("debug", request.param):
            yield request.param

    @pytest.mark.parametrize(
        "call",
        [
            lambda x, index: F.get_item(x, index),
            lambda x, index: F.scatter_add(x, index, x),
            lambda x, index: chainer.Variable(x)[index],
        ],
    )
    def test_two_ellipses(self, call, debug):
        """An index with two ellipses is a ValueError in debug mode, else an IndexError."""
        with pytest.raises(ValueError if debug else IndexError):
            call(np.ones((2, 3), "f"), (Ellipsis, Ellipsis))

    def test_unsorted_split(self, debug):
        """F.split_axis with unsorted positions is a ValueError in debug mode."""
        x = np.arange(3, dtype="f")
        if debug:
            with pytest.raises(ValueError, match="sorted"):
                F.split_axis(x, [2, 1], 0)
        else:
            assert [y.shape for y in F.split_axis(x, [2, 1], 0)] == [(2,), (0,), (2,)]

    @pytest.mark.parametrize("function", [F.bias, F.scale])
    def test_operand_that_does_not_fit(self, function, debug):
        """F.bias and F.scale raise AssertionError in debug mode, InvalidType in any."""
        with pytest.raises(InvalidType) as info:
            function(np.ones((2, 3), "f"), np.ones(2, "f"), 1)
        assert isinstance(info.value, AssertionError) == debug
        assert function(np.ones((2, 3), "f"), np.ones(3, "f"), 1).shape == (2, 3)


@pytest.mark.parametrize(
    "operator",
    [
        lambda x, a: x + a,
        lambda x, a: a - x,
        lambda x, a: x * a,
        lambda x, a: x / a,
        lambda x, a: x**a,
        lambda x, a: x + chainer.Variable(a),
    ],
)
def test_operands_that_cannot_be_broadcast(operator):
    """Operands whose shapes do not fit raise InvalidType, arrays and Variables alike."""
    with pytest.raises(InvalidType):
        operator(chainer.Variable(np.ones((2, 3), "f")), np.ones(2, "f"))


def test_reshape_with_two_unknown_dimensions():
    """F.reshape to a shape with several -1 raises AssertionError."""
    with pytest.raises(AssertionError, match="only specify one unknown dimension"):
        F.reshape(np.ones(4, "f"), (-1, -1))


@pytest.mark.parametrize("error", [KeyError, ValueError])
def test_unknown_mode_of_pad(error):
    with pytest.raises(error, match="^mode must be one of .*, got 'mirror'$"):
        F.pad(np.zeros(3, "f"), 1, "mirror")


def test_bias_of_deformable_convolution_with_an_axis_too_much():
    arrays = np.ones((1, 2, 3, 3), "f"), np.zeros((1, 8, 2, 2), "f"), np.ones((3, 2, 2, 2), "f")
    with pytest.raises(InvalidType, match=r"b.shape == \(3,\)"):
        F.deformable_convolution_2d_sampler(*arrays, np.zeros((1, 3), "f"))


def test_arrays_of_another_dtype_in_gaussian_nll():
    """A raw array takes the dtype of the Variable that it is combined with, as in 7.8.1."""
    x = np.array([0.5, -1.0], np.float16)
    mean, ln_var = (chainer.Variable(np.array(v, "f")) for v in ([0.1, 0.2], [0.3, -0.4]))
    loss = F.gaussian_nll(x, mean, ln_var, reduce="no")
    assert loss.dtype == np.float32
    expected = 0.5 * (np.log(2 * np.pi) + ln_var.array)
    expected += 0.5 * (x - mean.array) ** 2 / np.exp(ln_var.array)
    np.testing.assert_allclose(loss.array, expected, rtol=1e-6)
    chainer.gradient_check.check_backward(
        lambda m: F.gaussian_nll(x.astype("d"), m, ln_var.array.astype("d")),
        mean.array.astype("d"),
        np.ones(()),
    )


@pytest.mark.parametrize("error", [IndexError, TypeError, InvalidType])
def test_indexes_of_upsampling_that_are_not_integers(error):
    x = np.ones((1, 1, 2, 2), "f")
    with pytest.raises(error, match="float32"):
        F.upsampling_2d(x, x, 2)
