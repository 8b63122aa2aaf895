"""Optimizer updates over 1.8 million parameters (784-1000-1000-10), gradients given"""

from __future__ import annotations

import torch
from bench_case import Missing
from bench_torch import random
from torch import nn

UNIT = "ms"


def update_with(name, **arguments):
    def prepare():
        if not hasattr(torch.optim, name):
            raise Missing("torch.optim has no {}".format(name))
        model = nn.Sequential(nn.Linear(784, 1000), nn.Linear(1000, 1000), nn.Linear(1000, 10))
        optimizer = getattr(torch.optim, name)(model.parameters(), **arguments)
        for parameter in model.parameters():
            parameter.grad = random(*parameter.shape, seed=1) * 0.01
        return optimizer.step

    return prepare


CASES = {
    "SGD": update_with("SGD", lr=0.01),
    "MomentumSGD": update_with("SGD", lr=0.01, momentum=0.9),
    "NesterovAG": update_with("SGD", lr=0.01, momentum=0.9, nesterov=True),
    "AdaGrad": update_with("Adagrad"),
    "AdaDelta": update_with("Adadelta"),
    "Adam": update_with("Adam"),
    "AMSGrad": update_with("Adam", amsgrad=True),
    "AdamW": update_with("AdamW"),
    "RMSprop": update_with("RMSprop"),
}
