"""Transforms of arrays walk the graph without looking for paths: cases where paths matter."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F


def array(*values: float) -> np.ndarray:
    return np.array(values, np.float64)


def test_output_that_is_returned_twice():
    def twice(x):
        y = x**2
        return y, y

    _, pull = chainer.vjp(twice, array(1, 2))
    (gx,) = pull((array(1, 10), array(100, 1000)))
    np.testing.assert_array_equal(gx.array, array(2 * 101, 4 * 1010))


def test_output_that_is_the_input():
    value, product = chainer.hvp(lambda x: x, array(3), array(1))
    assert value.array == 3
    np.testing.assert_array_equal(product.array, array(0))
    _, pull = chainer.vjp(lambda x: (x, x**2), array(3))
    np.testing.assert_array_equal(pull((array(1), array(1)))[0].array, array(7))


def test_input_that_is_not_used():
    _, product = chainer.hvp(
        lambda x, y: F.sum(x**3), (array(1, 2), array(5)), (array(1, 1), array(9))
    )
    np.testing.assert_array_equal(product[0].array, array(6, 12))
    np.testing.assert_array_equal(product[1].array, array(0))


def test_gradients_that_the_function_has_set_take_no_part():
    def function(x):
        y = x**2
        y.grad = array(100, 100)
        return F.sum(y * x)

    x, v = array(1, 2), array(1, 1)
    np.testing.assert_array_equal(chainer.vjp(function, x)[1](np.array(1.0))[0].array, 3 * x**2)
    np.testing.assert_array_equal(chainer.hvp(function, x, v)[1].array, 6 * x)


@pytest.mark.parametrize("requires_grad", [True, False])
def test_variables_outside_can_be_differentiated_by_if_they_require_it(requires_grad):
    w = chainer.Variable(array(2, 3), requires_grad=requires_grad)
    x, v = array(1, 2), array(1, 1)
    _, product = chainer.hvp(lambda x: F.sum(w * x**3), x, v)
    np.testing.assert_array_equal(product.array, 6 * w.array * x)
    assert (product.creator_node is not None) == requires_grad
    if requires_grad:
        F.sum(product).backward()
        np.testing.assert_array_equal(w.grad, 6 * x)
    _, tangent = chainer.jvp(lambda x: w * x**3, (x,), (v,))
    np.testing.assert_array_equal(tangent.array, 3 * w.array * x**2)
    assert (tangent.creator_node is not None) == requires_grad


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(4, 3), (0, 3)])
def test_tangent_of_a_linear_function_on_arrays_has_the_bits_of_the_node(dtype, shape):
    random = np.random.RandomState(0)
    W, b = random.randn(5, 3).astype(dtype), random.randn(5).astype(dtype)
    x, v = random.randn(*shape).astype(dtype)[:, ::-1], random.randn(*shape).astype(dtype)
    function = lambda x: F.linear(x, W, b)
    _, found = chainer.jvp(function, (x,), (v,))
    # A direction that requires gradients needs the graph, and the functions that make it.
    _, expected = chainer.jvp(function, (x,), (chainer.Variable(v),))
    assert expected.creator_node is not None and found.creator_node is None
    assert found.dtype == dtype and found.array.tobytes() == expected.array.tobytes()


def test_graph_of_the_function_stays_as_it_is():
    x = array(1, 2)
    value, _ = chainer.hvp(lambda x: F.sum(x**3), x, x)
    value.backward()  # its graph begins at a Variable that the transform has made
    assert value.array == 9
