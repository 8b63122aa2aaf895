"""Training steps that differentiate gradients, in documented names of every release."""

from __future__ import annotations

import any_order_data as data
import chainer
import chainer.functions as F
import numpy as np


class Params(chainer.Link):
    """Parameters p0, p1, ... with the given values."""

    def __init__(self, arrays):
        super().__init__()
        with self.init_scope():
            for n, array in enumerate(arrays):
                setattr(self, "p{}".format(n), chainer.Parameter(array))
        self.count = len(arrays)

    def list(self):
        return [getattr(self, "p{}".format(n)) for n in range(self.count)]


def perceptron(params, x):
    for n in range(0, len(params) - 2, 2):
        x = F.tanh(F.linear(x, params[n], params[n + 1]))
    return F.linear(x, params[-2], params[-1])


def derivative(y, x):
    return chainer.grad([y], [x], enable_double_backprop=True)[0]


def pinn(params, x, f):
    x = chainer.Variable(x)
    u = perceptron(params, x)
    residual = derivative(derivative(u, x), x) - f
    return F.mean(residual * residual)


def ode(params, x):
    x = chainer.Variable(x)
    u = perceptron(params, x)
    residual = derivative(derivative(derivative(u, x), x), x) + u
    return F.mean(residual * residual)


def critic(params, x):
    h = F.leaky_relu(F.convolution_2d(x, params[0], params[1], 2, 1), data.SLOPE)
    h = F.leaky_relu(F.convolution_2d(h, params[2], params[3], 2, 1), data.SLOPE)
    return F.linear(F.reshape(h, (len(h), -1)), params[4], params[5])


def wgan(params, real, fake, mixed):
    mixed = chainer.Variable(mixed)
    gradient = derivative(F.sum(critic(params, mixed)), mixed)
    norm = F.sqrt(F.sum(gradient * gradient, axis=(1, 2, 3)))
    penalty = F.mean((norm - 1) * (norm - 1))
    return F.mean(critic(params, fake)) - F.mean(critic(params, real)) + data.PENALTY * penalty


def forces(params, x, target, centers, mask):
    x = chainer.Variable(x)
    d = F.expand_dims(x, 0) - F.expand_dims(x, 1)
    r = F.sqrt(F.sum(d * d, axis=2) + 1e-6)
    gap = F.expand_dims(r, 2) - centers
    features = F.sum(F.exp(-2 * gap * gap) * mask, axis=1)
    energy = F.sum(perceptron(params, features))
    difference = -derivative(energy, x) - target
    return F.mean(difference * difference)


def maml(params, inner_x, inner_t, outer_x, outer_t):
    weights = params
    for _ in range(2):
        loss = F.mean_squared_error(perceptron(weights, inner_x), inner_t)
        gradients = chainer.grad([loss], weights, enable_double_backprop=True)
        weights = [w - data.INNER_RATE * g for w, g in zip(weights, gradients)]
    return F.mean_squared_error(perceptron(weights, outer_x), outer_t)


def _parts(name):
    """Returns parameters, loss, and its further arguments."""
    if name == "WGAN-GP":
        return data.filters(), wgan, data.images()
    values = data.weights(data.SIZES[name])
    if name == "PINN, 2nd order":
        return values, pinn, (data.points(128), data.source(data.points(128)))
    if name == "ODE, 3rd order":
        return values, ode, (data.points(128),)
    if name == "forces":
        x, target, centers = data.molecule()
        mask = 1 - np.eye(24, dtype=np.float32)[:, :, None]
        return values, forces, (x, target, centers, mask)
    return values, maml, data.tasks()


class Training:
    """A step of Adam on a workload.

    Args:
        name: One of ``data.WORKLOADS``.
        device: Device, or None for NumPy, which every release has.
    """

    def __init__(self, name, device=None):
        values, loss_of, batch = _parts(name)
        self.prepare(values, batch, device)
        params = self.link.list()
        self.optimizer = chainer.optimizers.Adam(alpha=data.LEARNING_RATE)
        self.optimizer.setup(self.link)

        def step(*batch):
            loss = loss_of(params, *batch)
            self.link.cleargrads()
            loss.backward()
            self.optimizer.update()
            return loss

        self.step = step

    def prepare(self, values, batch, device):
        self.link = Params(values)
        self.batch = [np.array(array) for array in batch]
        self.losses = []
        self.is_on_jax = device is not None
        if device:
            self.link.to_device(device)
            self.batch = [chainer.get_device(device).send(array) for array in self.batch]

    def capture(self):
        self.step = chainer.capture(self.step, self.link, self.optimizer, on_failure="error")

    def __call__(self):
        self.note(self.step(*self.batch))

    def note(self, loss):
        if self.is_on_jax:  # which returns before it has computed; the step in JAX waits, too
            loss.array.native.block_until_ready()
        if len(self.losses) < data.LOSSES:
            self.losses.append(float(loss.array))

    def result(self):
        while len(self.losses) < data.LOSSES:
            self()
        return self.losses


class PowerIteration(Training):
    """Products of the Hessian of a loss and a direction, for its largest eigenvalue."""

    def __init__(self, name, device=None):
        x, t, directions = data.regression()
        self.prepare(data.weights(data.SIZES[name]), (x, t, *directions), device)
        params = self.link.list()

        def step(x, t, *directions):
            loss = F.mean_squared_error(perceptron(params, x), t)
            gradients = chainer.grad([loss], params, enable_double_backprop=True)
            seeds = [chainer.Variable(v) for v in directions]
            products = chainer.grad(gradients, params, grad_outputs=seeds)
            with chainer.no_backprop_mode():
                norm = F.sqrt(sum([F.sum(p * p) for p in products]))
                return norm, [p / F.broadcast_to(norm, p.shape) for p in products]

        self.step = step

    def capture(self):
        self.step = chainer.capture(self.step, self.link, on_failure="error")

    def __call__(self):
        norm, directions = self.step(*self.batch)
        self.batch[2:] = [v.array for v in directions]
        self.note(norm)


def training(name, device=None):
    return (PowerIteration if name == "HVP" else Training)(name, device)


class Order:
    """The derivative of a network of an order, and the gradients of its square."""

    def __init__(self, order):
        link = Params(data.weights(data.SIZES["orders"]))
        params = link.list()
        points = data.points(64)

        def step():
            x = chainer.Variable(points)
            u = perceptron(params, x)
            for _ in range(order):
                u = derivative(u, x)
            loss = F.mean(u * u)
            link.cleargrads()
            loss.backward()
            return loss

        self.step = step
        self.params = params

    def result(self):
        return [float(self.step().array), *[float((p.grad**2).sum()) for p in self.params[:4]]]
