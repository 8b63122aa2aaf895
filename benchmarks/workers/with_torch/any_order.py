"""Training steps that differentiate gradients, and derivatives of orders 0 to 5"""

from __future__ import annotations

import any_order_data as data
import bench_torch  # sets the number of threads
import torch
from bench_case import Case
from torch.nn import functional

UNIT = "us"
COMPARES_FRAMEWORKS = True

assert bench_torch


def _leaf(array):
    return torch.from_numpy(array).requires_grad_()


def perceptron(params, x):
    for n in range(0, len(params) - 2, 2):
        x = torch.tanh(functional.linear(x, params[n], params[n + 1]))
    return functional.linear(x, params[-2], params[-1])


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


def pinn(params, x, f):
    residual = derivative(derivative(perceptron(params, x), x), x) - f
    return (residual * residual).mean()


def ode(params, x):
    u = perceptron(params, x)
    residual = derivative(derivative(derivative(u, x), x), x) + u
    return (residual * residual).mean()


def critic(params, x):
    h = functional.leaky_relu(functional.conv2d(x, params[0], params[1], 2, 1), data.SLOPE)
    h = functional.leaky_relu(functional.conv2d(h, params[2], params[3], 2, 1), data.SLOPE)
    return functional.linear(h.flatten(1), params[4], params[5])


def wgan(params, real, fake, mixed):
    gradient = derivative(critic(params, mixed).sum(), mixed)
    norm = (gradient * gradient).sum((1, 2, 3)).sqrt()
    penalty = ((norm - 1) * (norm - 1)).mean()
    return critic(params, fake).mean() - critic(params, real).mean() + data.PENALTY * penalty


def forces(params, x, target, centers, mask):
    d = x[None] - x[:, None]
    r = ((d * d).sum(2) + 1e-6).sqrt()
    gap = r[:, :, None] - centers
    features = (torch.exp(-2 * gap * gap) * mask).sum(1)
    difference = -derivative(perceptron(params, features).sum(), x) - target
    return (difference * difference).mean()


def maml(params, inner_x, inner_t, outer_x, outer_t):
    weights = params
    for _ in range(2):
        loss = functional.mse_loss(perceptron(weights, inner_x), inner_t)
        gradients = torch.autograd.grad(loss, weights, create_graph=True)
        weights = [w - data.INNER_RATE * g for w, g in zip(weights, gradients)]
    return functional.mse_loss(perceptron(weights, outer_x), outer_t)


def _loss_of(name):
    if name == "WGAN-GP":
        real, fake, mixed = map(torch.from_numpy, data.images())
        mixed.requires_grad_()
        return lambda p: wgan(p, real, fake, mixed)
    if name == "PINN, 2nd order":
        x, f = _leaf(data.points(128)), torch.from_numpy(data.source(data.points(128)))
        return lambda p: pinn(p, x, f)
    if name == "ODE, 3rd order":
        x = _leaf(data.points(128))
        return lambda p: ode(p, x)
    if name == "forces":
        x, target, centers = map(torch.from_numpy, data.molecule())
        x.requires_grad_()
        mask = 1 - torch.eye(24)[:, :, None]
        return lambda p: forces(p, x, target, centers, mask)
    batch = list(map(torch.from_numpy, data.tasks()))
    return lambda p: maml(p, *batch)


class Training:
    """A step of the fused Adam on a workload. No gradient is stored for what is not trained."""

    def __init__(self, name):
        values = data.filters() if name == "WGAN-GP" else data.weights(data.SIZES[name])
        params = [_leaf(value) for value in values]
        loss_of = _loss_of(name)
        optimizer = torch.optim.Adam(params, lr=data.LEARNING_RATE, fused=True)

        def step():
            loss = loss_of(params)
            optimizer.zero_grad(set_to_none=True)
            loss.backward(inputs=params)
            optimizer.step()
            return loss

        self.step = step
        self.losses = []

    def __call__(self):
        loss = self.step()
        if len(self.losses) < data.LOSSES:
            self.losses.append(float(loss.detach()))

    def result(self):
        while len(self.losses) < data.LOSSES:
            self()
        return self.losses


class PowerIteration(Training):
    """Products of the Hessian of a loss and a direction, for its largest eigenvalue."""

    def __init__(self):
        x, t, directions = data.regression()
        x, t = torch.from_numpy(x), torch.from_numpy(t)
        params = [_leaf(value) for value in data.weights(data.SIZES["HVP"])]
        self.directions = [torch.from_numpy(v) for v in directions]

        def step():
            loss = functional.mse_loss(perceptron(params, x), t)
            gradients = torch.autograd.grad(loss, params, create_graph=True)
            products = torch.autograd.grad(gradients, params, self.directions)
            norm = sum([(p * p).sum() for p in products]) ** 0.5
            self.directions = [p / norm for p in products]
            return norm

        self.step = step
        self.losses = []


class Order:
    """The derivative of a network of an order, and the gradients of its square."""

    def __init__(self, order):
        params = [_leaf(value) for value in data.weights(data.SIZES["orders"])]
        x = _leaf(data.points(64))

        def step():
            u = perceptron(params, x)
            for _ in range(order):
                u = derivative(u, x)
            loss = (u * u).mean()
            for p in params:
                p.grad = None
            loss.backward(inputs=params)
            return loss

        self.step = step
        self.params = params

    def result(self):
        loss = float(self.step().detach())
        return [loss, *[float((p.grad**2).sum()) for p in self.params[:4]]]


def _case(name):
    def prepare():
        training = PowerIteration() if name == "HVP" else Training(name)
        return Case([("", training)], training.result)

    return prepare


def _order(n):
    def prepare():
        order = Order(n)
        return Case([("", order.step)], order.result)

    return prepare


CASES = {}
for _name in data.WORKLOADS:
    for _row in ("eager: ", "captured: ", "captured on JAX: "):
        CASES[_row + _name] = _case(_name)
for _n in data.ORDERS:
    CASES["order {}".format(_n)] = _order(_n)
