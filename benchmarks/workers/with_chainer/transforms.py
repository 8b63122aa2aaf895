"""Transforms of functions: derivatives in both modes, gradients of each sample"""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import transforms_data as data
from bench_case import Case, Missing

UNIT = "us"
PEERS = ["ours", "ours-numba", "torch", "jax"]
COMPARES_FRAMEWORKS = True
BUDGETS = {
    "torch": {
        "jvp": 1 / 5.0,
        "hvp": 1 / 5.0,
        "hvp, torch.autograd": 1.0,
        "gradients of samples": 1.0,
        "": 1.0,
    },
    "jax": {"captured": 1.1},
}

#: Calls until a step is recorded, compared and in use.
_CALLS_TO_CAPTURE = 6


def perceptron(params, x):
    for n in range(0, len(params) - 2, 2):
        x = F.tanh(F.linear(x, params[n], params[n + 1]))
    return F.linear(x, params[-2], params[-1])


def convnet(params, x):
    for n in (0, 2):
        x = F.max_pooling_2d(F.relu(F.convolution_2d(x, params[n], params[n + 1], pad=1)), 2)
    return F.linear(x, params[-2], params[-1])


def energy(params):
    return lambda x: F.sum(perceptron(params, x) ** 2)


def _functions():
    """Returns for each row a function of arrays, and its arguments."""
    params = data.weights(data.SIZES)
    x, v = data.points()
    network = lambda x: perceptron(params, x)
    of_one = lambda x: F.tanh(network(x[None])[0])
    rows = {
        "jvp": (lambda x, v: chainer.jvp(network, (x,), (v,))[1], (x, v)),
        "vjp": (lambda x, v: chainer.vjp(network, x)[1](v)[0], (x, v[:, :6].copy())),
        "hvp": (lambda x, v: chainer.hvp(energy(params), x, v)[1], (x, v)),
        "jacrev": (chainer.jacrev(of_one), (x[0],)),
        "jacfwd": (chainer.jacfwd(of_one), (x[0],)),
        "hessian": (chainer.hessian(lambda x: F.sum(of_one(x))), (x[0],)),
    }
    rows["hvp, torch.autograd"] = rows["hvp"]
    return rows


def _classifier(name):
    params = data.weights(data.MLP) if name == "MLP" else data.filters()
    network = perceptron if name == "MLP" else convnet

    def loss(params, x, t):
        return F.softmax_cross_entropy(network(params, x[None]), t[None])

    return chainer.per_sample_grad(loss, params), data.samples(name)


def _case(name, captures):
    def prepare():
        if name.startswith("gradients"):
            function, arguments = _classifier(name.split()[-1])
        else:
            function, arguments = _functions()[name]
        if captures:
            if not hasattr(chainer, "capture"):
                raise Missing("this release has no chainer.capture")
            function = chainer.capture(function)
            for _ in range(_CALLS_TO_CAPTURE):
                function(*arguments)

        def result():
            found = function(*arguments)
            parts = found if isinstance(found, (list, tuple)) else [found]
            return [float(np.square(part.array, dtype="d").sum()) for part in parts]

        return Case([("", lambda: function(*arguments))], result)

    return prepare


CASES = {}
for _name in ("jvp", "vjp", "hvp", "hvp, torch.autograd", "jacrev", "jacfwd", "hessian"):
    CASES[_name] = _case(_name, False)
for _name in ("gradients of samples, MLP", "gradients of samples, CNN"):
    CASES[_name] = _case(_name, False)
for _name in ("jvp", "hvp"):
    CASES["captured: " + _name] = _case(_name, True)
