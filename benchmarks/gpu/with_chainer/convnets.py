"""Convolution networks: training step with momentum SGD, channels first"""

from __future__ import annotations

import numpy as np
from gpu_nets import LeNet5, ResNet
from ours_on_gpu import integers, pick, random, training_step

import chainer

UNIT = "ms"
PER_CALL = pick(5, 1)
#: At least 0.9 times as fast as PyTorch.
BUDGETS = {"torch": 1 / 0.9}


def lenet5(size):
    def prepare():
        batch = random(size, 1, 28, 28), integers(10, size)
        return training_step(LeNet5(), chainer.optimizers.MomentumSGD(1e-3), batch, PER_CALL)

    return prepare


def resnet50(dtype, **config):
    def prepare():
        size, image = pick(64, 2), pick(224, 32)
        model = ResNet(pick(64, 8), pick((3, 4, 6, 3), (1, 1)), pick(1000, 10), dtype)
        batch = (
            random(size, 3, image, image, dtype=np.dtype(dtype)),
            integers(pick(1000, 10), size),
        )
        optimizer = chainer.optimizers.MomentumSGD(1e-4)
        return training_step(model, optimizer, batch, PER_CALL, **config)

    return prepare


CASES = {
    "LeNet5, batch 64": lenet5(pick(64, 4)),
    "LeNet5, batch 1024": lenet5(pick(1024, 8)),
    "ResNet50 float32": resnet50("float32", use_cudnn_tensor_core="never"),
    "ResNet50 tf32": resnet50("float32", use_cudnn_tensor_core="always"),
    "ResNet50 float16": resnet50("float16"),
}
