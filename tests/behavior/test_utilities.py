"""Utilities and internal names, as programs written for releases 4 to 7 use them."""

import collections.abc
import os

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import cuda
from chainer.utils import conv_nd


def test_tempdir_is_removed():
    """chainer.utils.tempdir yields a new directory and removes it with its contents."""
    with chainer.utils.tempdir(prefix="behavior") as path:
        assert os.path.basename(path).startswith("behavior")
        with open(os.path.join(path, "file"), "w"):
            pass
    assert not os.path.exists(path)


def test_force_type_casts_arrays():
    """chainer.utils.force_type casts an array of any dtype, and a scalar."""
    assert chainer.utils.force_type(np.dtype("f"), np.arange(3)).dtype == np.float32
    assert chainer.utils.force_type(np.dtype("i"), np.ones(3)).dtype == np.int32
    assert chainer.utils.force_type(np.dtype("f"), 3).dtype == np.float32


@pytest.mark.parametrize(
    "call",
    [
        lambda: conv_nd.as_tuple((1, 2), 3),
        lambda: conv_nd.im2col_nd_cpu(np.ones((1, 1, 4, 4)), (2, 2), (1,), (0, 0)),
        lambda: conv_nd.im2col_nd_cpu(np.ones((1, 1, 4, 4)), (2,), (1, 1), (0, 0)),
        lambda: conv_nd.im2col_nd_cpu(np.ones((1, 1, 4, 4)), (2, 2), (1, 1), (0,)),
        lambda: conv_nd.col2im_nd_cpu(np.ones((1, 1, 2, 2, 3, 3)), (1,), (0, 0), (4, 4)),
        lambda: conv_nd.col2im_nd_cpu(np.ones((1, 1, 2, 2, 3, 3)), (1, 1), (0, 0), (4,)),
    ],
)
def test_sizes_of_other_numbers_of_dimensions(call):
    """Sizes with a wrong number of values raise AssertionError."""
    with pytest.raises(AssertionError):
        call()


def test_basic_math_is_a_module_of_operators():
    """chainer.basic_math has the operator classes, which are the creators of results."""
    from chainer import basic_math

    assert basic_math is chainer.functions.math.basic_math
    x = chainer.Variable(np.full(2, 3, "f"))
    for y, name, label in (
        (x + x, "Add", "_ + _"),
        (x + 1, "AddConstant", "_ + 1"),
        (x - x, "Sub", "_ - _"),
        (1 - x, "SubFromConstant", "1 - _"),
        (x * x, "Mul", "_ * _"),
        (2 * x, "MulConstant", "_ * 2"),
        (x / x, "Div", "_ / _"),
        (1 / x, "DivFromConstant", "1 / _"),
        (x**x, "PowVarVar", "_ ** _"),
        (x**2, "PowVarConst", "_ ** 2"),
        (2**x, "PowConstVar", "2 ** _"),
        (-x, "Neg", "__neg__"),
        (abs(x), "Absolute", "|_|"),
    ):
        assert type(y.creator) is getattr(basic_math, name)
        assert y.creator.label == label
    assert basic_math.AddConstant(3).apply((x,))[0].array.tolist() == [6, 6]
    assert basic_math.mul(x, x).array.tolist() == [9, 9]
    assert basic_math.rsub(x, 1).array.tolist() == [-2, -2]


@pytest.mark.parametrize(
    "scalar", [np.float32(3), np.bool_(True), np.int64(3), np.complex64(1j), 3, 2.5, True]
)
def test_scalars_to_the_host(scalar):
    """cuda.to_cpu makes a 0-dimensional array of a scalar."""
    array = cuda.to_cpu(scalar)
    assert type(array) is np.ndarray
    assert array.shape == ()
    assert array.dtype == np.asarray(scalar).dtype
    assert array == scalar


def test_objects_that_do_not_go_to_the_host():
    """cuda.to_cpu refuses what is not an array or a scalar."""
    with pytest.raises(TypeError):
        cuda.to_cpu({"text": 1})


def test_copy_to_the_dummy_device():
    """F.copy takes cuda.DummyDevice, the device of a host array, for the host."""
    device = cuda.get_device_from_array(np.ones(3))
    assert device is cuda.DummyDevice
    y = F.copy(chainer.Variable(np.ones(3, "f")), device)
    assert y.array.tolist() == [1, 1, 1]


def test_joining_of_columns():
    """convert._concat_arrays joins the arrays of a column, with padding if told to."""
    from chainer.dataset import convert

    assert convert._concat_arrays([np.ones(2), np.ones(2)], None).tolist() == [[1, 1], [1, 1]]
    assert convert._concat_arrays([np.ones(2), np.ones(1)], -1).tolist() == [[1, 1], [1, -1]]
    assert convert._concat_arrays([1, 2], None).tolist() == [1, 2]
    with pytest.raises(ValueError, match="same shape"):
        convert._concat_arrays([np.ones(2), np.ones(1)], None)
    padded = convert._concat_arrays_with_padding([np.ones((2, 1)), np.ones((1, 2))], 7)
    assert padded.tolist() == [[[1, 7], [1, 7]], [[1, 1], [7, 7]]]


def test_names_that_client_libraries_read():
    """Internal names that libraries on top of Chainer read are there."""
    from chainer.testing import attr

    assert chainer.utils.collections_abc is collections.abc
    assert isinstance([], chainer.utils.collections_abc.Iterable)
    assert chainer.utils.CooMatrix is chainer.utils.sparse.CooMatrix
    attr.check_available("a test of another project")
    assert callable(attr._dummy_callable)
    assert chainer._backend.Device is chainer.backend.Device
    assert len(chainer._get_link_hooks()) == 0
    assert chainer.optimizers.SGD()._loss_scale is None


@pytest.mark.parametrize("package", ["rnn", "connection"])
def test_step_of_an_lstm(package):
    """_lstm of the modules n_step_lstm is one step of one layer of F.n_step_lstm."""
    import importlib

    step = importlib.import_module(f"chainer.functions.{package}.n_step_lstm")._lstm
    random = np.random.RandomState(0)
    draw = lambda *shape: random.randn(*shape).astype("f")
    x, h, c = draw(2, 3), draw(2, 4), draw(2, 4)
    w, b = [draw(4, 3 if i < 4 else 4) for i in range(8)], [draw(4) for _ in range(8)]
    actual = step(*map(chainer.Variable, (x, h, c)), w, b)
    hy, cy, _ = F.n_step_lstm(1, 0.0, h[None], c[None], [w], [b], [x])
    np.testing.assert_allclose(actual[0].array, hy.array[0], rtol=1e-5)
    np.testing.assert_allclose(actual[1].array, cy.array[0], rtol=1e-5)


def test_recurrent_functions_have_a_package():
    """chainer.functions.rnn and the older places of its modules are the same modules."""
    import chainer.functions.activation.lstm as older
    import chainer.functions.rnn.lstm as newer

    assert newer is older
    assert chainer.functions.rnn.lstm.LSTM is older.LSTM


@pytest.mark.parametrize("text", ["abc", b"abc"])
def test_to_cpu_of_a_text(text):
    array = chainer.backends.cuda.to_cpu(text)
    assert array.shape == ()
    assert array[()] == text
