"""Utilities that releases 5 to 7 added."""

import collections.abc
import io
import os
import re

import numpy as np
import pytest

import chainer
from chainer import utils
from chainer.utils import array, cache, conv, conv_nd, error, imgproc, precision


def test_sum_to():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert utils.sum_to(x, (2, 3, 4)) is x
    np.testing.assert_array_equal(utils.sum_to(x, (3, 1)), x.sum((0, 2))[:, None])
    np.testing.assert_array_equal(utils.sum_to(x, (1, 3, 4)), x.sum(0, keepdims=True))
    assert utils.sum_to(x, ()) == x.sum()
    variable = chainer.Variable(x)
    assert utils.sum_to(variable, (2, 3, 4)) is variable
    with pytest.raises(TypeError, match="takes an array, got a Variable"):
        utils.sum_to(variable, (3, 4))


def test_tempdir():
    with utils.tempdir(prefix="mine-") as path:
        assert os.path.basename(path).startswith("mine-")
        assert os.path.isdir(path)
    assert not os.path.exists(path)
    with pytest.raises(KeyError), utils.tempdir() as path:
        raise KeyError
    assert not os.path.exists(path)


def test_collections_abc():
    assert utils.collections_abc is collections.abc


@pytest.mark.parametrize(
    ("function", "shape"),
    [(array.as_vec, (24,)), (array.as_mat, (2, 12)), (array.empty_like, (2, 3, 4))],
)
def test_deprecated_helpers_of_arrays(function, shape):
    with pytest.warns(DeprecationWarning, match=function.__name__):
        assert function(np.ones((2, 3, 4))).shape == shape


def test_oversample():
    image = np.arange(2 * 5 * 6).reshape(2, 5, 6)
    crops = imgproc.oversample([image, image + 100], (3, 4))
    assert crops.shape == (20, 2, 3, 4)
    assert crops.dtype == image.dtype
    np.testing.assert_array_equal(crops[1], image[:, :3, 2:])
    np.testing.assert_array_equal(crops[3], image[:, 2:, 2:])
    np.testing.assert_array_equal(crops[4], image[:, 1:4, 1:5])
    np.testing.assert_array_equal(crops[7], image[:, 2:, :4][:, :, ::-1])
    np.testing.assert_array_equal(crops[10], image[:, :3, :4] + 100)


def test_nondeterministic():
    utils.nondeterministic("quiet")
    with (
        chainer.using_config("warn_nondeterministic", True),
        pytest.warns(UserWarning, match="Potentially non-deterministic code .* Source: atomicAdd"),
    ):
        utils.nondeterministic("atomicAdd")


def test_float16_in_float32():
    seen = []

    class Function:
        @precision._fp16_mixed_precision_helper
        def forward(self, inputs):
            seen.append([x.dtype.char for x in inputs])
            return inputs[0] * 2, None

    half, single, number = np.ones(2, "e"), np.ones(2, "f"), np.ones(2, "i")
    assert [y if y is None else y.dtype.char for y in Function().forward((half, number))] == [
        "e",
        None,
    ]
    assert Function().forward((half, single))[0].dtype == np.float32
    assert Function().forward((number,))[0].dtype == number.dtype
    assert seen == [["f", "i"], ["f", "f"], ["i"]]


class TestCachedProperty:
    class Thing:
        calls = 0

        @cache.cached_property
        def value(self):
            """The value."""
            self.calls += 1
            return object()

    def test_one_value_for_each_mode_of_backprop(self):
        thing = self.Thing()
        value = thing.value
        assert thing.value is value
        with chainer.no_backprop_mode():
            other = thing.value
            assert other is thing.value is not value
        assert thing.value is value
        assert thing.calls == 2
        assert thing.__dict__["value"] == {True: value, False: other}

    def test_is_readonly(self):
        thing = self.Thing()
        with pytest.raises(AttributeError, match="'value' of .* is readonly"):
            thing.value = 1
        with pytest.raises(AttributeError, match="readonly"):
            del thing.value
        assert self.Thing.value.__doc__ == "The value."


def test_texts_of_errors():
    assert utils._format_array_props([np.ones((2, 3), "f"), np.ones(4, "l")]) == (
        "(2, 3):float32, (4,):int64"
    )

    class Thing:
        pass

    assert re.fullmatch(r"<.*Thing a=1 b=x>", error._repr_with_named_data(Thing(), a=1, b="x"))
    with pytest.raises(TypeError, match=r"wrong\n\n\(caused by\)\nKeyError: 'k'") as info:
        utils._raise_from(TypeError, "wrong", KeyError("k"))
    assert isinstance(info.value.__cause__, KeyError)


class TestPatches:
    def test_dilated_patches(self):
        x = np.random.RandomState(0).normal(size=(2, 3, 7, 8))
        one = conv.im2col(x, 2, 3, 1, 2, 1, 0, dy=2, dx=2)
        other = conv_nd.im2col_nd(x, (2, 3), (1, 2), (1, 0), dilate=2)
        np.testing.assert_array_equal(one, other)
        assert one[0, 0, 1, 2, 0, 0] == x[0, 0, 1, 4]
        back = conv_nd.col2im_nd(other, (1, 2), (1, 0), (7, 8), dilate=(2, 2))
        np.testing.assert_allclose(back, conv.col2im(one, 1, 2, 1, 0, 7, 8, dy=2, dx=2))
        # The adjoint of the extraction.
        weights = np.random.RandomState(1).normal(size=one.shape)
        image = conv.col2im(weights, 1, 2, 1, 0, 7, 8, dy=2, dx=2)
        np.testing.assert_allclose((weights * one).sum(), (image * x).sum())

    def test_on_another_backend(self):
        device = chainer.get_device("@strict:0")
        x = np.ones((1, 1, 3, 3))
        found = conv.im2col(device.send(x), 2, 2, 1, 1, 0, 0)
        np.testing.assert_array_equal(
            chainer.get_device("@numpy").send(found), conv.im2col(x, 2, 2, 1, 1, 0, 0)
        )

    @pytest.mark.parametrize("error_class", [AssertionError, ValueError])
    def test_empty_outputs(self, error_class):
        with pytest.raises(error_class, match="Height in the output should be positive"):
            conv.im2col_cpu(np.ones((1, 1, 2, 3)), 3, 3, 1, 1, 0, 0)
        with pytest.raises(error_class, match="Output sizes should be positive"):
            conv_nd.im2col_nd_cpu(np.ones((1, 1, 2)), (3,), (1,), (0,))


def test_chainerx_is_not_available():
    import chainerx

    assert chainerx.is_available() is False
    assert not isinstance(np.ones(1), chainerx.ndarray)
    with pytest.raises(RuntimeError, match="ChainerX is not available"):
        chainerx.ndarray()


def test_names_of_types():
    from chainer import types

    for name in types.__all__:
        assert getattr(types, name) is not None


def test_lines_of_runtime_info():
    out = io.StringIO()
    chainer.print_runtime_info(out)
    names = [line.partition(":")[0] for line in out.getvalue().splitlines()]
    for name in ("Platform", "Chainer", "ChainerX", "NumPy", "CuPy", "iDeep"):
        assert name in names
