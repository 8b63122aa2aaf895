"""``chainer.jvp`` and ``chainer.jacfwd`` against formulas, and nested with the other transforms."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L

A = np.array([[1.0, 2, 0], [0, -1, 3]])
X = np.array([0.5, -1.0, 2.0])
T = np.array([1.0, -2.0, 0.5])
ONE = np.ones(())
DTYPES = [np.float16, np.float32, np.float64]


def closed(actual, expected, dtype=np.float64):
    tolerance = {2: 1e-2, 4: 1e-5, 8: 1e-12}[np.dtype(dtype).itemsize]
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual.array, expected, rtol=tolerance, atol=tolerance)


def derivative(f):
    """The derivative of a function of one number, in forward mode."""
    return lambda x: chainer.jvp(f, (x,), (ONE,))[1]


def gradient(f):
    """The derivative of a function of one number, in reverse mode."""
    return lambda x: chainer.vjp(f, x)[1](ONE)[0]


# -- jvp ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_jvp(dtype):
    a, x, da, dx = (z.astype(dtype) for z in (A, X, A[::-1], T))
    y, dy = chainer.jvp(lambda a, x: F.tanh(F.matmul(a, x)), (a, x), (da, dx))
    closed(y, np.tanh(A @ X), dtype)
    closed(dy, (1 - np.tanh(A @ X) ** 2) * (A[::-1] @ X + A @ T), dtype)


def test_jvp_of_nested_structures():
    Pair = namedtuple("Pair", "first second")
    primals = [{"a": X, "b": [2 * X]}]
    result, found = chainer.jvp(
        lambda p: Pair(p["a"] * p["b"][0], {"c": p["a"] ** 2}), primals, [{"a": T, "b": [X]}]
    )
    closed(result.first, 2 * X * X)
    closed(found.first, T * 2 * X + X * X)
    closed(found.second["c"], 2 * X * T)


def test_jvp_of_a_model():
    link = chainer.Sequential(L.Linear(3, 4), F.gelu, L.Linear(4, 2))
    for p in link.params():
        p.array = p.array.astype("d")
    x, t, eps = X[None], T[None], 1e-6
    _, found = chainer.jvp(link, (x,), (t,))
    with chainer.no_backprop_mode():
        expected = (link(x + eps * t).array - link(x - eps * t).array) / (2 * eps)
    np.testing.assert_allclose(found.array, expected, rtol=1e-7)


def test_results_that_do_not_move_have_zeros():
    y, z, w = chainer.jvp(lambda x: (x[:2], chainer.Variable(X), F.argmax(x)), (X,), (T,))[1]
    closed(y, T[:2])
    closed(z, 0 * X)
    assert not w.array.any()


def test_zero_tangents():
    closed(chainer.jvp(lambda x: F.exp(x) * x, (X,), (0 * X,))[1], 0 * X)


def test_an_input_is_a_result():
    y, t = chainer.jvp(lambda x: (x, x), (X,), (T,))
    closed(y[0], X)
    closed(t[1], T)


def test_broadcast_operands():
    column = X[:, None]
    for operate in (lambda x, y: x * y, lambda x, y: x + y, lambda x, y: x / y):
        found = chainer.jvp(operate, (column, T), (2 * column, X))[1]
        expected = (
            operate(column + 1e-6 * 2 * column, T + 1e-6 * X)
            - operate(column - 1e-6 * 2 * column, T - 1e-6 * X)
        ) / 2e-6
        np.testing.assert_allclose(found.array, expected, rtol=1e-7, atol=1e-9)


def test_only_the_bias_moves():
    found = chainer.jvp(lambda b: F.linear(A, A, b), (X[:2],), (T[:2],))[1]
    closed(found, np.broadcast_to(T[:2], (2, 2)))
    image, W = np.ones((2, 1, 3, 3)), np.ones((2, 1, 2, 2))
    found = chainer.jvp(lambda b: F.convolution_2d(image, W, b), (X[:2],), (T[:2],))[1]
    closed(found, np.broadcast_to(T[:2, None, None], (2, 2, 2, 2)))


def test_gradients_of_tangents_reach_parameters_and_primals():
    link, x = L.Linear(3, 1, nobias=True), chainer.Variable(X.astype("f")[None])
    link.cleargrads()
    _, tangent = chainer.jvp(link, (x,), (T.astype("f")[None],))
    F.sum(tangent**2).backward()
    np.testing.assert_allclose(link.W.grad[0], 2 * (link.W.array[0] @ T) * T, rtol=1e-5)


def test_without_backpropagation_tangents_have_no_graph():
    link = L.Linear(3, 2)
    with chainer.no_backprop_mode():
        _y, t = chainer.jvp(
            lambda x: F.softmax(link(x)), (X.astype("f")[None],), (T.astype("f")[None],)
        )
    assert t.creator is None
    assert t.array.any()


def test_auxiliary_results():
    _y, t, aux = chainer.jvp(lambda x: (x**2, "text"), (X,), (T,), has_aux=True)
    closed(t, 2 * X * T)
    assert aux == "text"
    _y, pull, aux = chainer.vjp(lambda x: (x**2, {"shape": x.shape}), X, has_aux=True)
    closed(pull(T)[0], 2 * X * T)
    assert aux == {"shape": (3,)}
    for transform in (chainer.jacfwd, chainer.jacrev):
        jacobian, aux = transform(lambda x: (x**2, 5), has_aux=True)(X)
        closed(jacobian, np.diag(2 * X))
        assert aux == 5
    second, aux = chainer.hessian(lambda x: (F.sum(x**2), 5), has_aux=True)(X)
    closed(second, 2 * np.eye(3))
    assert aux == 5


# -- nested ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("outer", [derivative, gradient])
@pytest.mark.parametrize("inner", [derivative, gradient])
def test_derivatives_stay_partial(outer, inner):
    # d/dx (x * d/dy (x + y)) = 1: the inner derivative does not depend on x.
    closed(outer(lambda x: x * inner(lambda y: x + y)(x))(np.array(3.0)), 1.0)
    # d/dx (x * d/dy (x * y)) = 2 x
    closed(outer(lambda x: x * inner(lambda y: x * y)(x))(np.array(3.0)), 6.0)


@pytest.mark.parametrize("first", [derivative, gradient])
@pytest.mark.parametrize("second", [derivative, gradient])
@pytest.mark.parametrize("third", [derivative, gradient])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x**4, lambda x: 24 * x),
        (F.exp, np.exp),
        (F.tanh, lambda x: 2 * (1 - np.tanh(x) ** 2) * (3 * np.tanh(x) ** 2 - 1)),
        (lambda x: F.log(x) * x, lambda x: -1 / x**2),
        (lambda x: F.logsumexp(F.stack([2 * x, x * 0])), lambda x: _third_of_softplus(2 * x) * 8),
        (lambda x: F.sum(F.matmul(F.stack([x, x]), F.stack([x**2, x]))), lambda x: 6.0),
    ],
)
def test_third_derivatives(first, second, third, function, expected):
    x = np.array(0.7)
    found = third(second(first(function)))(x)
    np.testing.assert_allclose(found.array, expected(x), rtol=1e-10)


def _third_of_softplus(x):
    s = 1 / (1 + np.exp(-x))
    return s * (1 - s) * (1 - 2 * s)


def test_the_tangent_depends_on_the_outer_input():
    # d/dx of the derivative of y^2 at x in the direction x^2: d/dx 2 x^3 = 6 x^2
    outer = derivative(lambda x: chainer.jvp(lambda y: y**2, (x,), (x**2,))[1])
    closed(outer(np.array(3.0)), 54.0)


# -- jacfwd ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_jacfwd(dtype):
    found = chainer.jacfwd(lambda x: F.tanh(F.matmul(A.astype(dtype), x)))(X.astype(dtype))
    closed(found, (1 - np.tanh(A @ X) ** 2)[:, None] * A, dtype)


def test_jacfwd_is_jacrev():
    def function(p, x):
        return {"y": F.matmul(p[0], x), "z": F.sum(p[1] * x) ** 2}

    args = ((A, X), T)
    for argnums in (0, 1, (1, 0), -1):
        forward = chainer.jacfwd(function, argnums)(*args)
        reverse = chainer.jacrev(function, argnums)(*args)
        assert _structure(forward) == _structure(reverse)
        for a, b in zip(_leaves(forward), _leaves(reverse), strict=True):
            closed(a, b.array)
    assert chainer.jacfwd(function)(*args)["y"][0].shape == (2, 2, 3)


def _leaves(tree):
    if isinstance(tree, chainer.Variable):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree
    return [leaf for part in parts for leaf in _leaves(part)]


def _structure(tree):
    if isinstance(tree, chainer.Variable):
        return tree.shape
    if isinstance(tree, dict):
        return {key: _structure(part) for key, part in tree.items()}
    return type(tree)(_structure(part) for part in tree)


def test_jacfwd_of_scalars_and_of_empty_arrays():
    closed(chainer.jacfwd(F.sum)(X), np.ones(3))
    assert chainer.jacfwd(lambda x: x[:0])(X).shape == (0, 3)
    assert chainer.jacfwd(lambda x: x**2)(X[:0]).shape == (0, 0)


def test_jacfwd_of_jacrev_is_the_hessian():
    def function(x):
        return F.sum(x**3) + F.prod(x)

    expected = chainer.hessian(function)(X).array
    for outer in (chainer.jacfwd, chainer.jacrev):
        for inner in (chainer.jacfwd, chainer.jacrev):
            np.testing.assert_allclose(outer(inner(function))(X).array, expected, atol=1e-12)


MATRIX = np.linspace(0.2, 1, 12).reshape(3, 4) ** 2
LABELS = np.array([0, 1, 2], "i")


@pytest.mark.parametrize(
    "function",
    [
        *(F.tanh, F.relu, F.elu, F.gelu, F.softmax, F.log_softmax, F.logsumexp, F.prod, F.max),
        *(F.cumsum, F.normalize, F.average),
        lambda x: F.inv(F.matmul(x, x, transb=True) + np.eye(3)),
        lambda x: F.convolution_2d(x[None, None], np.arange(4.0).reshape(1, 1, 2, 2)),
        lambda x: F.max_pooling_2d(x[None, None], 2),
        lambda x: F.softmax_cross_entropy(x, LABELS, enable_double_backprop=True),
        lambda x: F.einsum("ij,kj->ik", x, x * x),
        lambda x: F.where(MATRIX > 0.3, x, x * x),
        lambda x: F.linear(x, x, x[:, 0]),
        lambda x: F.concat((x, x[::-1]), 0)[1:4] * F.sum(x),
        lambda x: chainer.vmap(F.logsumexp)(x),
    ],
)
def test_all_columns_at_once(function):
    """Jacobians carry all directions in one walk, by batching rules or loops in each node."""
    forward, reverse = chainer.jacfwd(function)(MATRIX), chainer.jacrev(function)(MATRIX)
    np.testing.assert_allclose(forward.array, reverse.array, rtol=1e-10, atol=1e-12)

    def scalar(x):
        return F.sum(F.sin(function(x)))

    second = chainer.jacrev(chainer.jacrev(scalar))(MATRIX)
    np.testing.assert_allclose(chainer.hessian(scalar)(MATRIX).array, second.array, atol=1e-9)


def test_rules_that_read_tangents_are_called_for_each_column():
    class Reads(Cube):
        def tangents(self, moving, tangents):
            (x,) = self.get_retained_inputs()
            return (chainer.Variable(3 * x.array**2 * tangents[0].array),)

    closed(chainer.jacfwd(lambda x: Reads().apply((x,))[0])(X), np.diag(3 * X**2))


# -- everywhere -----------------------------------------------------------------------------------


def test_within_a_captured_step():
    link = L.Linear(3, 2, initialW=A.astype("f"))

    def step(x):
        _, tangent = chainer.jvp(lambda x: F.softmax(F.tanh(link(x))), (x,), (x,))
        return tangent, chainer.jacfwd(lambda x: link(x))(x)

    captured = chainer.capture(step, link, on_failure="error")
    for i in range(6):
        x = (X * i).astype("f")[None]
        for found, expected in zip(captured(x), step(x), strict=True):
            np.testing.assert_array_equal(found.array, expected.array)


def test_on_the_strict_backend():
    pytest.importorskip("chainer_strict_backend")
    device = chainer.get_device("@strict")
    x, t = device.send(X), device.send(T)
    for function in (lambda x: x**2, F.tanh, lambda x: F.softmax(x[None]), lambda x: x[1:] * x[0]):
        tangent = chainer.jvp(function, (x,), (t,))[1]
        jacobian = chainer.jacfwd(function)(x)
        for found in (tangent, jacobian):
            assert chainer.backend.get_device_from_array(found.array) == device


def test_function_hooks_see_the_rules():
    class Labels(chainer.FunctionHook):
        def __init__(self):
            self.labels = []

        def forward_preprocess(self, function, in_data):
            self.labels.append(function.label)

    with Labels() as hook:
        chainer.jvp(F.sum, (X,), (T,))
    assert hook.labels.count("Sum") == 2


# -- functions of other authors -------------------------------------------------------------------


class Cube(chainer.FunctionNode):
    """A function without a rule for forward mode."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] ** 3,)

    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (3 * x * x * grad_outputs[0],)


class CubeWithRule(Cube):
    def tangents(self, moving, tangents):
        (x,) = self.get_retained_inputs()
        return (3 * x * x * tangents[0],)


@pytest.mark.parametrize("node", [Cube, CubeWithRule])
def test_functions_of_other_authors(node):
    closed(chainer.jvp(lambda x: node().apply((x,))[0], (X,), (T,))[1], 3 * X**2 * T)
    twice = derivative(derivative(lambda x: node().apply((x,))[0]))
    closed(twice(np.array(2.0)), 12.0)


def test_wrong_rules_are_refused():
    class TwoTangents(Cube):
        def tangents(self, moving, tangents):
            return tangents * 2

    class OtherShape(Cube):
        def tangents(self, moving, tangents):
            return (F.sum(tangents[0]),)

    with pytest.raises(ValueError, match=r"TwoTangents\) must return 1 tangents, got 2"):
        chainer.jvp(lambda x: TwoTangents().apply((x,))[0], (X,), (T,))
    with pytest.raises(ValueError, match="tangent of output 0 of OtherShape"):
        chainer.jvp(lambda x: OtherShape().apply((x,))[0], (X,), (T,))


def test_functions_that_cannot_be_differentiated_twice():
    class Old(chainer.Function):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, inputs, grad_outputs):
            return (grad_outputs[0] * 2,)

    class ArraysOnly(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward_arrays(self, target_input_indexes, grad_outputs):
            return (grad_outputs[0] * 2,)

    with pytest.raises(RuntimeError):
        chainer.jvp(lambda x: Old()(x), (X,), (T,))
    with pytest.raises(RuntimeError, match="forward mode cannot pass ArraysOnly"):
        chainer.jvp(lambda x: ArraysOnly().apply((x,))[0], (X,), (T,))


# -- bad arguments --------------------------------------------------------------------------------


def test_bad_arguments():
    with pytest.raises(TypeError, match="jvp: primals must be a tuple or a list .* got ndarray"):
        chainer.jvp(F.sum, X, (T,))
    with pytest.raises(TypeError, match="jvp: tangents must be a tuple or a list .* got ndarray"):
        chainer.jvp(F.sum, (X,), T)
    with pytest.raises(ValueError, match="jvp: tangents must be 1 arrays, .* got tuple of 2"):
        chainer.jvp(F.sum, (X,), (T, T))
    with pytest.raises(ValueError, match=r"jvp: tangents must have the shape \(3,\), got \(2,\)"):
        chainer.jvp(F.sum, (X,), (T[:2],))
    with pytest.raises(ValueError, match="tangents must have the dtype float64, got float32"):
        chainer.jvp(F.sum, (X,), (T.astype("f"),))
    with pytest.raises(TypeError, match=r"must return a tuple \(output, aux\), got Variable"):
        chainer.jvp(F.sum, (X,), (T,), has_aux=True)
    with pytest.raises(TypeError, match="jvp: primals must be arrays of floating-point .* int64"):
        chainer.jvp(F.sum, (np.arange(3),), (T,))
    with pytest.raises(ValueError, match="jacfwd: argnums must be numbers of the 1 arguments"):
        chainer.jacfwd(F.sum, argnums=1)(X)
