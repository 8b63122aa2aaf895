"""Training steps that differentiate gradients, written by hand for ``jax.jit``"""

from __future__ import annotations

import any_order_data as data
import jax
import jax.numpy as jnp
import optax
from bench_case import Case

UNIT = "us"
COMPARES_FRAMEWORKS = True


def perceptron(params, x):
    for n in range(0, len(params) - 2, 2):
        x = jnp.tanh(x @ params[n].T + params[n + 1])
    return x @ params[-2].T + params[-1]


def scalar(params):
    """Returns the network as a function of a number, to differentiate it by ``grad``."""
    return lambda x: perceptron(params, x.reshape(1, 1))[0, 0]


def pinn(params, x, f):
    second = jax.vmap(jax.grad(jax.grad(scalar(params))))(x[:, 0])
    return jnp.mean((second - f[:, 0]) ** 2)


def ode(params, x):
    third = jax.vmap(jax.grad(jax.grad(jax.grad(scalar(params)))))(x[:, 0])
    return jnp.mean((third + perceptron(params, x)[:, 0]) ** 2)


def convolution(x, weight, bias):
    pads = ((1, 1), (1, 1))
    return jax.lax.conv_general_dilated(x, weight, (2, 2), pads) + bias[:, None, None]


def critic(params, x):
    h = jax.nn.leaky_relu(convolution(x, params[0], params[1]), data.SLOPE)
    h = jax.nn.leaky_relu(convolution(h, params[2], params[3]), data.SLOPE)
    return h.reshape(len(h), -1) @ params[4].T + params[5]


def wgan(params, real, fake, mixed):
    gradient = jax.grad(lambda x: critic(params, x).sum())(mixed)
    norm = jnp.sqrt((gradient * gradient).sum((1, 2, 3)))
    penalty = jnp.mean((norm - 1) ** 2)
    return critic(params, fake).mean() - critic(params, real).mean() + data.PENALTY * penalty


def forces(params, x, target, centers, mask):
    def energy(x):
        d = x[None] - x[:, None]
        r = jnp.sqrt((d * d).sum(2) + 1e-6)
        gap = r[:, :, None] - centers
        return perceptron(params, (jnp.exp(-2 * gap * gap) * mask).sum(1)).sum()

    return jnp.mean((-jax.grad(energy)(x) - target) ** 2)


def _squared_error(params, x, t):
    return jnp.mean((perceptron(params, x) - t) ** 2)


def maml(params, inner_x, inner_t, outer_x, outer_t):
    weights = params
    for _ in range(2):
        gradients = jax.grad(_squared_error)(weights, inner_x, inner_t)
        weights = [w - data.INNER_RATE * g for w, g in zip(weights, gradients)]
    return _squared_error(weights, outer_x, outer_t)


def _parts(name):
    if name == "WGAN-GP":
        return wgan, data.images()
    if name == "PINN, 2nd order":
        return pinn, (data.points(128), data.source(data.points(128)))
    if name == "ODE, 3rd order":
        return ode, (data.points(128),)
    if name == "forces":
        return forces, (*data.molecule(), 1 - jnp.eye(24)[:, :, None])
    return maml, data.tasks()


class Training:
    """A jitted step of Adam on a workload, which gets its batch as arguments."""

    def __init__(self, name):
        values = data.filters() if name == "WGAN-GP" else data.weights(data.SIZES[name])
        loss_of, batch = _parts(name)
        self.batch = [jnp.asarray(array) for array in batch]
        adam = optax.adam(data.LEARNING_RATE)
        params = [jnp.asarray(value) for value in values]

        def step(params, state, *batch):
            loss, gradients = jax.value_and_grad(loss_of)(params, *batch)
            updates, state = adam.update(gradients, state)
            return optax.apply_updates(params, updates), state, loss

        self.state = params, adam.init(params)
        self.step = jax.jit(step, donate_argnums=(0, 1))
        self.losses = []

    def __call__(self):
        *self.state, loss = self.step(*self.state, *self.batch)
        loss.block_until_ready()
        if len(self.losses) < data.LOSSES:
            self.losses.append(float(loss))

    def result(self):
        while len(self.losses) < data.LOSSES:
            self()
        return self.losses


class PowerIteration(Training):
    """Products of the Hessian of a loss and a direction, for its largest eigenvalue."""

    def __init__(self):
        x, t, directions = data.regression()
        params = [jnp.asarray(value) for value in data.weights(data.SIZES["HVP"])]
        self.batch = [jnp.asarray(x), jnp.asarray(t)]

        def step(directions, x, t):
            gradient = jax.grad(lambda p: _squared_error(p, x, t))
            _, products = jax.jvp(gradient, (params,), (directions,))
            norm = jnp.sqrt(sum([(p * p).sum() for p in products]))
            return [p / norm for p in products], norm

        self.state = ([jnp.asarray(v) for v in directions],)
        self.step = jax.jit(step)
        self.losses = []


def _case(name):
    def prepare():
        training = PowerIteration() if name == "HVP" else Training(name)
        return Case([("", training)], training.result)

    return prepare


CASES = {}
for _name in data.WORKLOADS:
    for _row in ("captured: ", "captured on JAX: "):
        CASES[_row + _name] = _case(_name)
