"""What the programs with PyTorch share."""

from __future__ import annotations

import os

import numpy as np
import torch
from bench_case import Case

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
# After some thousand steps the means of an optimizer have such numbers, with which processors of
# Intel compute a hundred times slower. XLA and Chainer's kernels take them for zero by default.
torch.set_flush_denormal(True)


def random(*shape, seed=0):
    """Returns float32 samples of the standard normal distribution."""
    return torch.from_numpy(np.random.RandomState(seed).randn(*shape).astype(np.float32))


def integers(high, *shape, seed=0):
    """Returns int64 samples of 0, ..., high - 1."""
    return torch.from_numpy(np.random.RandomState(seed).randint(0, high, shape).astype(np.int64))


def training_step(model, optimizer, loss_of):
    """Returns a case that times a whole training step; ``loss_of()`` computes the loss."""
    last = []

    def step():
        loss = loss_of()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        last[:] = [loss.detach()]

    return Case([("", step)], lambda: [float(last[0])])
