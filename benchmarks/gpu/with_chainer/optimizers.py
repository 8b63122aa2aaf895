"""Update of 25 million parameters; PyTorch's variants in turn, ours has one"""

from __future__ import annotations

import numpy as np
from gpu_nets import ResNet
from ours_on_gpu import DEVICE, pick, random, repeated

import chainer

UNIT = "us"
PER_CALL = pick(10, 1)
BUDGETS = {"torch": 1.0}


def one_array():
    model = chainer.Link()
    with model.init_scope():
        model.W = chainer.Parameter(np.zeros((pick(25_000_000, 1000),), np.float32))
    return model


def many_arrays():
    return ResNet(pick(64, 8), pick((3, 4, 6, 3), (1, 1)), pick(1000, 10), "float32")


def case(make, name, *arguments):
    def prepare():
        model = make().to_device(DEVICE)
        optimizer = getattr(chainer.optimizers, name)(*arguments).setup(model)
        for parameter in model.params():
            parameter.grad = random(*parameter.shape)
        return repeated(optimizer.update, PER_CALL)

    return prepare


CASES = {
    "Adam, one array, fused": case(one_array, "Adam"),
    "Adam, one array, foreach": case(one_array, "Adam"),
    "Adam, ResNet50, fused": case(many_arrays, "Adam"),
    "Adam, ResNet50, foreach": case(many_arrays, "Adam"),
    "momentum SGD, ResNet50, fused": case(many_arrays, "MomentumSGD", 1e-3),
    "momentum SGD, ResNet50, foreach": case(many_arrays, "MomentumSGD", 1e-3),
}
