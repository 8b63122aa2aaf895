"""Update of 25 million parameters; PyTorch's variants in turn, ours has one"""

from __future__ import annotations

import torch
from torch_nets import ResNet
from torch_on_gpu import DEVICE, pick, random, repeated

UNIT = "us"
PER_CALL = pick(10, 1)


def one_array():
    return [torch.zeros(pick(25_000_000, 1000), device=DEVICE, requires_grad=True)]


def many_arrays():
    width, depths, classes = pick(64, 8), pick((3, 4, 6, 3), (1, 1)), pick(1000, 10)
    return list(ResNet(width, depths, classes, torch.float32).to(DEVICE).parameters())


def case(make, optimizer, variant, **arguments):
    def prepare():
        parameters = make()
        for parameter in parameters:
            parameter.grad = random(*parameter.shape)
        made = optimizer(parameters, **{variant: True}, **arguments)
        return repeated(made.step, PER_CALL)

    return prepare


CASES = {
    "Adam, one array, fused": case(one_array, torch.optim.Adam, "fused"),
    "Adam, one array, foreach": case(one_array, torch.optim.Adam, "foreach"),
    "Adam, ResNet50, fused": case(many_arrays, torch.optim.Adam, "fused"),
    "Adam, ResNet50, foreach": case(many_arrays, torch.optim.Adam, "foreach"),
    "momentum SGD, ResNet50, fused": case(
        many_arrays, torch.optim.SGD, "fused", lr=1e-3, momentum=0.9
    ),
    "momentum SGD, ResNet50, foreach": case(
        many_arrays, torch.optim.SGD, "foreach", lr=1e-3, momentum=0.9
    ),
}
