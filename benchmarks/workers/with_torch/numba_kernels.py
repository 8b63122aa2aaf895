"""chainer-numba: updates of parameters and training steps on NumPy arrays"""

from __future__ import annotations

import torch
from bench_torch import integers, random, training_step
from ptb import Stepwise, train
from torch import nn

UNIT = "ms"
SIZES = {"1.8M": (784, 1000, 1000, 10), "25M": (2048, 3072, 3072, 3072)}


def update_with(name, sizes, **arguments):
    def prepare():
        layers = [nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])]
        return _updates(list(nn.Sequential(*layers).parameters()), name, arguments)

    return prepare


def many_parameters(name):
    def prepare():
        parameters = [nn.Parameter(random(72, seed=n)) for n in range(4000)]
        return _updates(parameters, name, {})

    return prepare


def _updates(parameters, name, arguments):
    optimizer = getattr(torch.optim, name)(parameters, fused=True, **arguments)
    for n, parameter in enumerate(parameters):
        parameter.grad = random(*parameter.shape, seed=n) * 0.01
    return optimizer.step


def mlp():
    model = nn.Sequential(
        nn.Linear(784, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10)
    )
    x, t = random(100, 784), integers(10, 100)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    loss = nn.CrossEntropyLoss()
    return training_step(model, optimizer, lambda: loss(model(x), t))


CASES = {}
for _size, _layers in SIZES.items():
    CASES["Adam " + _size] = update_with("Adam", _layers)
    CASES["AdamW " + _size] = update_with("AdamW", _layers, weight_decay=0.01)
    CASES["SGD " + _size] = update_with("SGD", _layers, lr=0.01)
    CASES["MomentumSGD " + _size] = update_with("SGD", _layers, lr=0.01, momentum=0.9)
CASES["Adam 4000 x 72"] = many_parameters("Adam")
CASES["MLP 784-1000-1000-10 step"] = mlp
CASES["language model step"] = train(Stepwise)
