"""The transforms of functions on arrays of JAX, eager and captured, against NumPy."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest

X = np.linspace(-1, 1, 12, dtype="f").reshape(4, 3)
V = X[::-1].copy()


def energy(x):
    return F.sum(F.softplus(x) ** 2 * F.softmax(x))


TRANSFORMS = {
    "jvp": lambda x, v: chainer.jvp(F.softmax, (x,), (v,))[1],
    "vjp": lambda x, v: chainer.vjp(F.tanh, x)[1](v)[0],
    "hvp": lambda x, v: chainer.hvp(energy, x, v)[1],
    "jacrev": lambda x, v: chainer.jacrev(lambda x: F.sum(x * x, axis=1))(x),
    "jacfwd": lambda x, v: chainer.jacfwd(lambda x: F.sum(x * x, axis=1))(x),
    "hessian": lambda x, v: chainer.hessian(energy)(x),
    "vmap": lambda x, v: chainer.vmap(lambda x, v: F.logsumexp(x) * v)(x, v),
    "nested": lambda x, v: chainer.vmap(lambda x: chainer.hessian(lambda x: F.sum(x**3))(x))(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    device = chainer.get_device("@jax:0")
    x, v = device.send(X), device.send(V)
    with device:
        found = TRANSFORMS[name](x, v)
    assert chainer.backend.get_device_from_array(found.array) == device
    expected = TRANSFORMS[name](X, V).array
    np.testing.assert_allclose(device_array(found), expected, rtol=2e-5, atol=2e-6)


def device_array(variable):
    return np.asarray(chainer.dataset.to_device("@numpy", variable.array))


def test_within_a_captured_step():
    device = chainer.get_device("@jax:0")
    x, v = device.send(X), device.send(V)
    names = ("jvp", "hvp", "jacrev", "vmap")
    step = chainer.capture(lambda x, v: [TRANSFORMS[name](x, v) for name in names])
    for _ in range(5):
        found = step(x, v)
    for name, each in zip(names, found, strict=True):
        expected = TRANSFORMS[name](X, V).array
        np.testing.assert_allclose(device_array(each), expected, rtol=2e-5, atol=2e-6)


def test_gradients_of_samples():
    device = chainer.get_device("@jax:0")
    model = L.Linear(3, 2, initialW=X[:2])
    model.to_device(device)

    def loss(params, x):
        return F.sum(F.tanh(chainer.functional_call(model, params, x[None])))

    with device:
        found = chainer.per_sample_grad(loss, dict(model.namedparams()))(device.send(X))
    slope = 1 - np.tanh(X @ X[:2].T) ** 2
    np.testing.assert_allclose(
        device_array(found["/W"]), slope[:, :, None] * X[:, None], rtol=1e-5, atol=1e-6
    )


VIEWS = {
    "transpose": lambda x: F.transpose(x * 2),
    "reshape": lambda x: F.reshape(x * 2, (3, 4)),
    "slice": lambda x: F.get_item(x * 2, (slice(1, None), slice(None, None, 2))),
    "of a view": lambda x: F.transpose(F.transpose(x + 1)[1:]),
    "jacfwd": lambda x: chainer.jacfwd(lambda x: F.sum(x * x, axis=1))(x),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_step_may_end_in_a_view(name):
    # Arrays of views are computed when they are read: while the step is recorded, from shapes.
    x = chainer.get_device("@jax:0").send(X)
    step = chainer.capture(VIEWS[name], on_failure="error")
    for i in range(5):
        found = step(x + i)
    assert chainer.explain(step).count("in use") == 1
    np.testing.assert_allclose(device_array(found), VIEWS[name](X + 4).array, rtol=1e-6)


def test_random_numbers_of_a_mapped_function():
    """The key of JAX belongs to the state of random numbers."""
    device = chainer.get_device("@jax:0")
    x = device.send(np.ones((2, 64), np.float32))
    backend = device.backend
    state = backend.random_state(device)
    first = F.dropout(x, 0.5).array
    backend.set_random_state(state, device)
    np.testing.assert_array_equal(backend.to_host(F.dropout(x, 0.5).array), backend.to_host(first))
    same = backend.to_host(chainer.vmap(F.dropout, randomness="same")(x).array)
    np.testing.assert_array_equal(same[0], same[1])
    different = backend.to_host(chainer.vmap(F.dropout, randomness="different")(x).array)
    assert (different[0] != different[1]).any()
    with pytest.raises(RuntimeError, match="draws random numbers"):
        chainer.vmap(F.dropout)(x)
