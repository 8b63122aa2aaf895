"""``chainer.vjp``, ``hvp``, ``jacrev``, ``hessian`` and ``functional_call`` against formulas."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L

A = np.array([[1.0, 2, 0], [0, -1, 3]])
X = np.array([0.5, -1.0, 2.0])
DTYPES = [np.float16, np.float32, np.float64]


def closed(actual, expected, dtype=np.float64):
    tolerance = {2: 1e-2, 4: 1e-5, 8: 1e-12}[np.dtype(dtype).itemsize]
    array = actual.array if isinstance(actual, chainer.Variable) else actual
    assert array.dtype == dtype
    np.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance)


def cubes(x):
    return F.sum(x**3) + F.prod(x)


def hessian_of_cubes(x):
    expected = np.diag(6 * x)
    for i in range(3):
        for j in range(3):
            if i != j:
                expected[i, j] = np.prod(np.delete(x, [i, j]))
    return expected


# -- vjp ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_vjp(dtype):
    a, x, v = A.astype(dtype), X.astype(dtype), np.array([3.0, -2.0], dtype)
    y, pull = chainer.vjp(lambda a, x: F.tanh(F.matmul(a, x)), a, x)
    ga, gx = pull(v)
    inner = v * (1 - np.tanh(A @ X) ** 2)
    closed(y, np.tanh(A @ X), dtype)
    closed(ga, np.outer(inner, X), dtype)
    closed(gx, A.T @ inner, dtype)


def test_vjp_of_nested_structures():
    primals = {"a": [X, 2 * X], "b": (X,)}
    result, pull = chainer.vjp(lambda p: [p["a"][0] * p["b"][0], {"c": p["a"][0] ** 2}], primals)
    (found,) = pull([np.ones(3), {"c": np.full(3, 2.0)}])
    closed(result[1]["c"], X**2)
    closed(found["a"][0], X + 4 * X)
    closed(found["a"][1], 0 * X)
    closed(found["b"][0], X)
    assert isinstance(found["a"], list)
    assert isinstance(found["b"], tuple)


def test_pull_is_called_again():
    _, pull = chainer.vjp(lambda x: x**2, X)
    for scale in (1.0, 2.0):
        closed(pull(np.full(3, scale))[0], 2 * X * scale)


def test_gradients_of_vjp_reach_parameters_and_primals():
    link, x = L.Linear(3, 1, nobias=True), chainer.Variable(X.astype("f")[None])
    link.cleargrads()
    _, pull = chainer.vjp(lambda x: F.tanh(link(x)), x)
    (gx,) = pull(np.ones((1, 1), "f"))
    F.sum(gx**2).backward()
    w, t = link.W.array[0].astype("d"), np.tanh(link.W.array[0] @ X)
    slope = (1 - t**2) ** 2
    # |gx|^2 = (1 - t^2)^2 |w|^2
    expected = 2 * w * slope + (w @ w) * 2 * (1 - t**2) * (-2 * t) * (1 - t**2) * X
    np.testing.assert_allclose(link.W.grad[0], expected, rtol=1e-4)
    assert x.grad is not None


def test_without_backpropagation_results_have_no_graph():
    with chainer.no_backprop_mode():
        _, pull = chainer.vjp(lambda x: x**2, X)
        (gx,) = pull(np.ones(3))
        _, product = chainer.hvp(cubes, X, np.ones(3))
        second = chainer.hessian(cubes)(X)
    closed(gx, 2 * X)
    for found in (gx, product, second):
        assert found.creator is None


def test_derivatives_stay_partial():
    # d/dx (x * d/dy (x + y)) = 1: the inner derivative does not depend on x.
    def outer(x):
        (inner,) = chainer.vjp(lambda y: x + y, x)[1](np.ones(()))
        return x * inner

    (found,) = chainer.vjp(outer, np.array(3.0))[1](np.ones(()))
    closed(found, 1.0)


def test_third_derivative_by_nesting():
    def derivative(f):
        return lambda x: chainer.vjp(f, x)[1](np.ones(3))[0]

    third = derivative(derivative(derivative(lambda x: x**4)))
    closed(third(X), 24 * X)


# -- hvp ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_hvp(dtype):
    x, v = X.astype(dtype), np.array([1, -2, 0.5], dtype)
    value, product = chainer.hvp(cubes, x, v)
    closed(value, np.sum(X**3) + np.prod(X), dtype)
    closed(product, hessian_of_cubes(X) @ v, dtype)


def test_hvp_of_several_arguments():
    v, w = np.array([1.0, 2, 3]), np.array([0.5, 0, -1])
    _, (px, py) = chainer.hvp(lambda x, y: F.sum(x**2 * y), (X, 3 * X), (v, w))
    closed(px, 2 * (3 * X) * v + 2 * X * w)
    closed(py, 2 * X * v)


def test_hvp_of_a_linear_function_is_zero():
    closed(chainer.hvp(F.sum, X, X)[1], 0 * X)
    closed(chainer.hvp(lambda x: chainer.Variable(np.ones(())), X, X)[1], 0 * X)


def test_hvp_against_finite_differences():
    link = chainer.Sequential(L.Linear(3, 5), F.gelu, L.Linear(5, 1))
    for p in link.params():
        p.array = p.array.astype("d")

    def energy(x):
        return F.sum(link(x))

    x, v, eps = X[None], np.array([[1.0, -1, 2]]), 1e-5
    ahead, behind = [chainer.vjp(energy, x + s * eps * v)[1](np.ones(()))[0].array for s in (1, -1)]
    found = chainer.hvp(energy, x, v)[1]
    np.testing.assert_allclose(found.array, (ahead - behind) / (2 * eps), rtol=1e-6, atol=1e-8)


# -- jacobians and Hessians -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_jacrev(dtype):
    found = chainer.jacrev(lambda x: F.tanh(F.matmul(A.astype(dtype), x)))(X.astype(dtype))
    closed(found, (1 - np.tanh(A @ X) ** 2)[:, None] * A, dtype)


def test_jacrev_of_several_arguments():
    both = chainer.jacrev(lambda a, x: F.matmul(a, x), argnums=(-1, 0))(A, X)
    closed(both[0], A)
    expected = np.zeros((2, 2, 3))
    expected[0, 0] = expected[1, 1] = X
    closed(both[1], expected)


def test_jacrev_of_scalars_and_of_empty_results():
    closed(chainer.jacrev(F.sum)(X), np.ones(3))
    assert chainer.jacrev(lambda x: x[:0])(X).shape == (0, 3)
    assert chainer.jacrev(lambda x: x**2)(X[:0]).shape == (0, 0)


def test_other_arguments_are_passed_on():
    found = chainer.jacrev(lambda x, n, name: x**n if name else x)(X, 2, "a")
    closed(found, np.diag(2 * X))


@pytest.mark.parametrize("dtype", DTYPES)
def test_hessian(dtype):
    closed(chainer.hessian(cubes)(X.astype(dtype)), hessian_of_cubes(X), dtype)


def test_hessian_of_several_arguments():
    found = chainer.hessian(lambda x, y: F.sum(x**2 * y), argnums=(0, 1))(X, 3 * X)
    closed(found[0][0], np.diag(6 * X))
    closed(found[0][1], np.diag(2 * X))
    closed(found[1][0], np.diag(2 * X))
    closed(found[1][1], np.zeros((3, 3)))


def test_hessian_is_the_jacobian_of_the_gradient():
    def gradient(x):
        return chainer.vjp(cubes, x)[1](np.ones(()))[0]

    closed(chainer.jacrev(gradient)(X), chainer.hessian(cubes)(X).array)
    closed(chainer.jacrev(chainer.jacrev(cubes))(X), chainer.hessian(cubes)(X).array)


def test_not_contiguous():
    x = np.arange(12.0).reshape(3, 4)[:, ::2]
    closed(chainer.hvp(lambda x: F.sum(x**3), x, x.T.copy().T)[1], 6 * x * x)


def test_within_a_captured_step():
    link = L.Linear(3, 2, initialW=A.astype("f"))

    def step(x):
        _, product = chainer.hvp(lambda x: F.sum(F.tanh(link(x)) ** 2), x, x)
        return product, chainer.jacrev(lambda x: link(x))(x)

    captured = chainer.capture(step, link, on_failure="error")
    for i in range(6):
        x = (X * i).astype("f")[None]
        for found, expected in zip(captured(x), step(x), strict=True):
            np.testing.assert_array_equal(found.array, expected.array)


def test_on_the_strict_backend():
    pytest.importorskip("chainer_strict_backend")
    device = chainer.get_device("@strict")
    x, v = device.send(X), device.send(np.ones(3))
    for found in (
        chainer.vjp(lambda x: x**2, x)[1](v)[0],
        chainer.hvp(cubes, x, v)[1],
        chainer.hessian(cubes)(x),
        chainer.jacrev(lambda x: x**2)(x),
    ):
        assert chainer.backend.get_device_from_array(found.array) == device


# -- functional_call ------------------------------------------------------------------------------


def model():
    return chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 1))


def test_functional_call():
    link, other = model(), model()
    x = X.astype("f")[None]
    params = {name: p.array for name, p in other.namedparams()}
    before = dict(link.namedparams())
    np.testing.assert_array_equal(chainer.functional_call(link, params, x).array, other(x).array)
    assert dict(link.namedparams()) == before
    short = {name.strip("/"): value for name, value in params.items()}
    np.testing.assert_array_equal(chainer.functional_call(link, short, x).array, other(x).array)


def test_gradients_by_parameters():
    link, x = model(), X.astype("f")[None]
    params = dict(link.namedparams())
    _, pull = chainer.vjp(lambda p: F.sum(chainer.functional_call(link, p, x)), params)
    (found,) = pull(np.ones((), "f"))
    link.cleargrads()
    F.sum(link(x)).backward()
    for name, p in link.namedparams():
        np.testing.assert_array_equal(found[name].array, p.grad)


def test_step_of_meta_learning():
    link, x = L.Linear(3, 1, initialW=X.astype("f")[None], nobias=True), np.ones((1, 3), "f")
    link.cleargrads()
    (gradient,) = chainer.grad([F.sum(link(x) ** 2)], [link.W], enable_double_backprop=True)
    F.sum(chainer.functional_call(link, {"W": link.W - 0.1 * gradient}, x) ** 2).backward()
    # w' = w - 0.2 (w x) x, so that w' x = (w x) (1 - 0.2 |x|^2)
    wx = X.sum() * (1 - 0.6)
    np.testing.assert_allclose(link.W.grad[0], 2 * wx * (1 - 0.6), rtol=1e-5)


def test_shared_parameters():
    first = L.Linear(3, 3, nobias=True)
    link = chainer.Chain(first=first)
    with link.init_scope():
        link.W = first.W
    link.forward = lambda x: F.matmul(first(x), link.W)
    found = chainer.functional_call(link, {"/first/W": np.eye(3, dtype="f")}, X.astype("f")[None])
    closed(found, X[None], np.float32)


def test_link_is_restored_after_an_error():
    link = L.Linear(3, 2)
    before = link.W
    with pytest.raises(chainer.utils.type_check.InvalidType):
        chainer.functional_call(link, {"W": np.zeros((2, 3), "f")}, np.ones((1, 5), "f"))
    assert link.W is before


# -- bad arguments --------------------------------------------------------------------------------


def test_bad_arguments():
    with pytest.raises(TypeError, match="vjp: func must be callable, got int"):
        chainer.vjp(3, X)
    with pytest.raises(TypeError, match="vjp: primals must be arrays of floating-point .* int64"):
        chainer.vjp(F.sum, np.arange(3))
    with pytest.raises(TypeError, match="vjp: primals must be arrays or Variables, .* got float"):
        chainer.vjp(F.sum, 3.0)
    with pytest.raises(TypeError, match="vjp: results of func must be arrays .* got str"):
        chainer.vjp(lambda x: "text", X)
    with pytest.raises(ValueError, match=r"cotangents must have the shape \(3,\), got \(2,\)"):
        chainer.vjp(lambda x: x, X)[1](np.ones(2))
    with pytest.raises(ValueError, match="cotangents must be 2 arrays"):
        chainer.vjp(lambda x: (x, x), X)[1](np.ones(3))
    with pytest.raises(ValueError, match="cotangents must be a dict of the same keys"):
        chainer.vjp(lambda x: {"a": x}, X)[1]({"b": X})
    with pytest.raises(ValueError, match=r"hvp: func must return an array of one .* got \(3,\)"):
        chainer.hvp(lambda x: x, X, X)
    with pytest.raises(ValueError, match=r"hvp: vectors must have the shape \(3,\)"):
        chainer.hvp(F.sum, X, X[:2])
    with pytest.raises(ValueError, match="jacrev: argnums must be numbers of the 1 arguments"):
        chainer.jacrev(F.sum, argnums=1)(X)
    with pytest.raises(TypeError, match="hessian: argument 0 must be an array or a Variable"):
        chainer.hessian(F.sum)("text")
    with pytest.raises(TypeError, match="jacrev: results of func must be arrays .* got str"):
        chainer.jacrev(lambda x: "text")(X)
    with pytest.raises(TypeError, match="link must be a Link, got int"):
        chainer.functional_call(3, {})
    link = L.Linear(3, 2)
    with pytest.raises(ValueError, match="there is no parameter 'V'; known ones: W, b"):
        chainer.functional_call(link, {"V": X}, X)
    with pytest.raises(ValueError, match=r"'W' must have the shape \(2, 3\), got \(3,\)"):
        chainer.functional_call(link, {"W": X}, X)
