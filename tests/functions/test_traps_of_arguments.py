"""Errors, warnings and arguments where releases 4 and 7 differ.

An error that has another class in each release belongs to both.
"""

import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable
from chainer.utils.type_check import InvalidType

X = np.ones((3, 4), "f")
IMAGE = np.ones((1, 2, 5, 5), "f")


def ones(*shape):
    return np.ones(shape, "f")


def weights(gates, size, units):
    half = gates // 2
    return [[ones(units, size if i < half else units) for i in range(gates)]]


def biases(gates, units):
    return [[ones(units)] * gates]


@pytest.mark.parametrize(
    ("call", "classes"),
    [
        (lambda: F.softmax(X, axis=5), [InvalidType]),
        (lambda: F.log_softmax(X, axis=5), [InvalidType]),
        (lambda: F.softmax_cross_entropy(X, np.zeros(3, "I")), [InvalidType]),
        (lambda: Variable(X) + [1.0], [TypeError, ValueError]),
        (lambda: Variable(X) * None, [TypeError, ValueError]),
        (lambda: F.permutate(X, np.zeros(3, "f")), [InvalidType, ValueError]),
        (lambda: F.permutate(X, np.zeros(3, "I")), [InvalidType, ValueError]),
        (lambda: F.permutate(X, np.zeros((3, 1), "i")), [InvalidType, ValueError]),
        (lambda: F.permutate(X, np.zeros(2, "i")), [InvalidType, ValueError]),
        (lambda: F.max_pooling_2d(ones(2, 5, 5), 2), [InvalidType, ValueError]),
        (lambda: F.convolution_nd(IMAGE, ones(2, 3, 3, 3)), [InvalidType, ValueError]),
        (lambda: F.convolution_nd(IMAGE, ones(3, 1, 3, 3), groups=2), [InvalidType, TypeError]),
        (lambda: F.convolution_2d(IMAGE, ones(3, 1, 3, 3), groups=2), [InvalidType, TypeError]),
        (lambda: F.deconvolution_nd(IMAGE, ones(2, 1, 3, 3), groups=3), [InvalidType, TypeError]),
        (lambda: F.convolution_2d(IMAGE, ones(2, 2, 7, 7)), [AssertionError, ValueError]),
        (lambda: F.convolution_nd(IMAGE, ones(2, 2, 7, 7)), [AssertionError, ValueError]),
        (
            lambda: F.deconvolution_nd(IMAGE, ones(2, 2, 1, 1), pad=4),
            [AssertionError, ValueError],
        ),
        (lambda: F.deconvolution_2d(IMAGE, ones(2, 2, 1, 1), pad=4), [RuntimeError]),
        (lambda: F.max_pooling_2d(IMAGE, 9, cover_all=False), [AssertionError, ValueError]),
        (lambda: F.average_pooling_2d(IMAGE, 9), [AssertionError, ValueError]),
        (lambda: F.average_pooling_nd(IMAGE, 9), [AssertionError, ValueError]),
        (lambda: F.im2col(IMAGE, 9), [AssertionError, ValueError]),
        (
            lambda: F.n_step_lstm(
                1, 0.0, ones(1, 2, 3), ones(1, 2, 3), weights(8, 5, 3), biases(8, 3), [ones(2, 4)]
            ),
            [InvalidType, ValueError],
        ),
        (
            lambda: F.n_step_rnn(
                1, 0.0, ones(1, 2, 3), weights(2, 5, 3), biases(2, 3), [ones(2, 4)]
            ),
            [InvalidType, ValueError],
        ),
        (lambda: F.mean(X, axis=5), [InvalidType, IndexError]),
        (lambda: F.average(X, axis=-3, weights=ones(3)), [InvalidType, IndexError]),
        (lambda: F.normalize(X, axis=5), [InvalidType, np.exceptions.AxisError]),
        (lambda: F.clip(X, None, None), [ValueError]),
        (
            lambda: F.softmax_cross_entropy(X, np.zeros(3, "i"), class_weight=np.ones(4, "i")),
            [ValueError],
        ),
        (lambda: F.clip(X, 1.0, 0.0), [ValueError]),
        (lambda: F.where([True], X, X), [InvalidType, TypeError]),
        (lambda: F.where(np.ones(4, "i"), X, X), [InvalidType]),
        (lambda: F.rrelu(X, 0.1, 1.0), [ValueError]),
        (lambda: F.rrelu(X, 0.3, 0.2), [ValueError]),
        (lambda: F.rrelu(X, train=True), [ValueError]),
        (lambda: F.moveaxis(X, 0, 2), [InvalidType, ValueError]),
        (lambda: F.moveaxis(X, -3, 0), [InvalidType, IndexError]),
        (lambda: F.resize_images(IMAGE, (2, 2), mode="cubic"), [ValueError]),
        (lambda: F.resize_images(IMAGE, (0, 2)), [ValueError]),
        (lambda: F.pad(X, 1, "x"), [ValueError]),
        (lambda: F.split_axis(X, 0, 1), [ValueError, ZeroDivisionError]),
        (lambda: F.depth2space(ones(1, 5, 2, 2), 2), [InvalidType, ValueError]),
        (lambda: F.zoneout(X, X, 1.5), [ValueError]),
        (lambda: F.convolution_2d(IMAGE, ones(2, 2, 3, 3), cudnn_fast=True), [RuntimeError]),
        (lambda: F.convolution_2d(IMAGE, ones(2, 2, 3, 3), dilate=0), [ValueError]),
        (lambda: F.reshape(X, (-1, -1)), [ValueError]),
        (lambda: F.expand_dims(X, 1.0), [TypeError]),
        (
            lambda: F.batch_normalization(X, ones(4), ones(4), running_mean=np.zeros(4, "f")),
            [ValueError],
        ),
        (lambda: F.batch_normalization(X, ones(4), ones(4), axis=(1, 0)), [RuntimeError]),
        (lambda: F.batch_normalization(X, ones(3), ones(3), axis=-1), [InvalidType]),
        (lambda: Variable(X) // Variable(ones(5)), [InvalidType, ValueError]),
        (lambda: F.sum_to(X, (2,)), [InvalidType]),
        (lambda: F.forget(lambda x: x, Variable(X)).creator and F.forget(3, X), [TypeError]),
        (lambda: F.spatial_pyramid_pooling_2d(IMAGE, 2, "average"), [ValueError]),
        (lambda: F.spatial_pyramid_pooling_2d(IMAGE, 2), [ValueError]),
    ],
)
def test_error_belongs_to_the_classes_of_both_releases(call, classes):
    for cls in classes:
        with pytest.raises(cls):
            call()


def test_error_of_two_classes_survives_pickling():
    import pickle

    with pytest.raises(InvalidType) as info:
        F.mean(X, axis=5)
    again = pickle.loads(pickle.dumps(info.value))
    assert type(again) is type(info.value)
    assert str(again) == str(info.value)
    assert "Invalid operation is performed in: Mean" in str(again)


def test_arguments_that_either_release_accepts():
    np.testing.assert_array_equal(F.clip(X, 1, 1).array, X)
    np.testing.assert_array_equal(F.clip(2 * X, 0, 1).array, X)
    np.testing.assert_array_equal(F.clip(2 * X, None, np.array(0.5, "f")).array, X / 2)
    np.testing.assert_array_equal(F.where(True, X, 0 * X).array, X)
    np.testing.assert_array_equal(F.where(np.bool_(False), X, 0 * X).array, 0 * X)
    np.testing.assert_array_equal(F.where(Variable(X > 0), X, 0 * X).array, X)
    integers = np.arange(6).reshape(2, 3)
    assert F.moveaxis(integers, 0, 1).shape == (3, 2)
    np.testing.assert_array_equal(F.fliplr(integers).array, integers[:, ::-1])
    np.testing.assert_array_equal(F.flipud(integers).array, integers[::-1])
    assert [y.shape for y in F.split_axis(X, np.array(2), 1)] == [(3, 2), (3, 2)]
    assert F.tile(X, np.int64(2)).shape == (3, 8)
    np.testing.assert_array_equal(F.contrastive(ones(0, 2), ones(0, 2), np.zeros(0, "i")).array, 0)
    np.testing.assert_allclose(F.convolution_nd(X, ones(5, 4)).array, np.full((3, 5), 4))
    assert F.batch_normalization(X, ones(4), ones(4)).creator.running_mean is None


def test_spatial_pyramid_pooling_takes_its_third_argument_in_both_ways():
    expected = F.spatial_pyramid_pooling_2d(IMAGE, 2, pooling="max").array
    np.testing.assert_array_equal(F.spatial_pyramid_pooling_2d(IMAGE, 2, "max").array, expected)
    for call in (
        lambda: F.spatial_pyramid_pooling_2d(IMAGE, 2, F.MaxPooling2D),
        lambda: F.spatial_pyramid_pooling_2d(IMAGE, 2, pooling_class=F.MaxPooling2D),
    ):
        with pytest.warns(DeprecationWarning, match="pooling_class"):
            np.testing.assert_array_equal(call().array, expected)
    np.testing.assert_array_equal(
        F.spatial_pyramid_pooling_2d(IMAGE, 2, None, "max").array, expected
    )


@pytest.mark.parametrize(
    ("shape", "axis", "text"),
    [
        ((1, 4), None, "no more than one sample"),
        ((1, 4, 1, 1), None, "no more than one sample"),
        ((1, 4, 1, 1), (2, 3), "single dimensions along all axes"),
        ((1, 4, 2, 2), None, None),
        ((2, 4), None, None),
        ((0, 4), None, None),
    ],
)
def test_warning_for_averages_of_one_element(shape, axis, text):
    x = np.ones(shape, "f")
    parameter = ones(4) if axis is None else ones(*shape[:2])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        F.batch_normalization(x, parameter, parameter, axis=axis)
    assert [text in str(w.message) for w in caught] == ([] if text is None else [True])
    assert all(w.category is UserWarning and w.filename == __file__ for w in caught)


def test_deprecated_and_experimental_functions():
    with pytest.warns(DeprecationWarning, match="Use fixed_batch_normalization instead"):
        F.fixed_batch_renormalization(X, ones(4), ones(4), ones(4), ones(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.max_pooling_nd(IMAGE, 2)
        F.average_pooling_nd(IMAGE, 2)
        F.unpooling_nd(IMAGE, 2)


def test_arguments_after_those_of_release_7():
    t = np.full((3, 4), 0.25, "f")
    arguments = (X, t, True, True, None, -1, "mean", False, "kl-divergence")
    assert float(F.softmax_cross_entropy(*arguments).array) == pytest.approx(0, abs=1e-5)
    mean, var = np.zeros(4, "f"), np.ones(4, "f")
    F.batch_renormalization(X, ones(4), ones(4), 1.0, 0.0, 2e-5, mean, var, 0.0, True)
    assert mean.tolist() == [1, 1, 1, 1]


def test_function_node_can_be_applied_again():
    node = chainer.functions.noise.dropout.Dropout(0.5)
    x = Variable(X)
    # Once the first output is no longer in use.
    first = node.apply((x,))[0].array
    second = node.apply((x,))[0]
    np.testing.assert_array_equal(first, second.array)
    second.grad = X
    second.backward()
    np.testing.assert_array_equal(x.grad, node.mask)


def test_classes_are_attributes_of_the_package():
    assert F.ReLU is F.activation.relu.ReLU
    assert isinstance(F.max_pooling_2d(Variable(IMAGE), 2).creator, F.MaxPoolingND)
