"""What the programs with PyTorch share: the device, tensors on it, training steps."""

from __future__ import annotations

import os

import numpy as np
import torch
from bench_case import Case

ON_GPU = os.environ.get("BENCH_DEVICE", "cuda") != "cpu"
QUICK = bool(os.environ.get("BENCH_QUICK"))

DEVICE = torch.device("cuda:0" if ON_GPU else "cpu")
if not ON_GPU:
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


def pick(full, quick):
    """Returns the first value, or the second in a quick run."""
    return quick if QUICK else full


def random(*shape, dtype=torch.float32, seed=0):
    """Returns normally distributed numbers on the device."""
    values = np.random.RandomState(seed).randn(*shape).astype(np.float32)
    return torch.from_numpy(np.asarray(values)).to(DEVICE, dtype)


def integers(high, *shape, seed=0):
    """Returns int64 numbers 0, ..., high - 1 on the device."""
    values = np.random.RandomState(seed).randint(0, high, shape).astype(np.int64)
    return torch.from_numpy(values).to(DEVICE)


def synchronize():
    """Waits for the device."""
    if ON_GPU:
        torch.cuda.synchronize()


def repeated(step, count):
    """Returns a function that calls ``step`` several times and then waits for the device."""

    def call():
        for _ in range(count):
            step()
        synchronize()

    return call


def training_step(model, optimizer, loss_of, count, tf32=False, autotune=False):
    """Returns a case of ``count`` training steps; ``loss_of()`` computes the loss."""
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = autotune
    last = []

    def step():
        loss = loss_of()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        last[:] = [loss.detach()]

    return Case([("", repeated(step, count))], lambda: [float(last[0])])
