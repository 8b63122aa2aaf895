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
        try:
            optimizer = getattr(torch.optim, name)(model.parameters(), **arguments)
        except (TypeError, RuntimeError) as error:  # releases without fused updates on the CPU
            raise Missing(str(error)) from error
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
# "fused" updates all parameters by one call of a compiled loop; PyTorch does not do so by default.
CASES.update(
    {
        "SGD fused": update_with("SGD", lr=0.01, fused=True),
        "MomentumSGD fused": update_with("SGD", lr=0.01, momentum=0.9, fused=True),
        "NesterovAG fused": update_with("SGD", lr=0.01, momentum=0.9, nesterov=True, fused=True),
        "AdaGrad fused": update_with("Adagrad", fused=True),
        "Adam fused": update_with("Adam", fused=True),
        "AMSGrad fused": update_with("Adam", amsgrad=True, fused=True),
        "AdamW fused": update_with("AdamW", fused=True),
    }
)
