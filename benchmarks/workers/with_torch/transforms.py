"""Transforms of functions with ``torch.func``"""

from __future__ import annotations

import bench_torch  # sets the number of threads
import torch
import transforms_data as data
from bench_case import Case
from torch import func
from torch.nn import functional

UNIT = "us"
COMPARES_FRAMEWORKS = True

assert bench_torch


def perceptron(params, x):
    for n in range(0, len(params) - 2, 2):
        x = torch.tanh(functional.linear(x, params[n], params[n + 1]))
    return functional.linear(x, params[-2], params[-1])


def convnet(params, x):
    for n in (0, 2):
        h = functional.relu(functional.conv2d(x, params[n], params[n + 1], padding=1))
        x = functional.max_pool2d(h, 2)
    return functional.linear(x.flatten(1), params[-2], params[-1])


def _by_autograd(energy):
    def product(x, v):
        x = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(energy(x), x, create_graph=True)
        return torch.autograd.grad(gradient, x, v)[0]

    return product


def _functions():
    params = [torch.from_numpy(w) for w in data.weights(data.SIZES)]
    x, v = map(torch.from_numpy, data.points())
    network = lambda x: perceptron(params, x)
    energy = lambda x: (network(x) ** 2).sum()
    of_one = lambda x: torch.tanh(network(x[None])[0])
    return {
        "jvp": (lambda x, v: func.jvp(network, (x,), (v,))[1], (x, v)),
        "vjp": (lambda x, v: func.vjp(network, x)[1](v)[0], (x, v[:, :6].clone())),
        "hvp": (lambda x, v: func.jvp(func.grad(energy), (x,), (v,))[1], (x, v)),
        "hvp, torch.autograd": (_by_autograd(energy), (x, v)),
        "jacrev": (func.jacrev(of_one), (x[0],)),
        "jacfwd": (func.jacfwd(of_one), (x[0],)),
        "hessian": (func.hessian(lambda x: of_one(x).sum()), (x[0],)),
    }


def _classifier(name):
    values = data.weights(data.MLP) if name == "MLP" else data.filters()
    params = [torch.from_numpy(value) for value in values]
    network = perceptron if name == "MLP" else convnet

    def loss(params, x, t):
        return functional.cross_entropy(network(params, x[None]), t[None])

    each = func.vmap(func.grad(loss), in_dims=(None, 0, 0))
    x, t = map(torch.from_numpy, data.samples(name))
    return lambda x, t: each(params, x, t), (x, t.long())


def _case(name):
    def prepare():
        if name.startswith("gradients"):
            function, arguments = _classifier(name.split()[-1])
        else:
            function, arguments = _functions()[name]

        def result():
            found = function(*arguments)
            parts = found if isinstance(found, (list, tuple)) else [found]
            return [float((part.double() ** 2).sum()) for part in parts]

        return Case([("", lambda: function(*arguments))], result)

    return prepare


CASES = {}
for _name in ("jvp", "vjp", "hvp", "hvp, torch.autograd", "jacrev", "jacfwd", "hessian"):
    CASES[_name] = _case(_name)
for _name in ("gradients of samples, MLP", "gradients of samples, CNN"):
    CASES[_name] = _case(_name)
