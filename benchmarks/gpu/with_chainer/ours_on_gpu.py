"""What the programs with Chainer share: the device, arrays on it, training steps."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

# Workers run apart from PYTHONPATH; here the checkout is what is measured.
ROOT = Path(__file__).resolve().parents[3]
sys.path[1:1] = [
    str(ROOT),
    *filter(None, os.environ.get("BENCH_PATH", "").split(os.pathsep)),
]

if "CHAINER_EMULATION" in os.environ:  # workers start without what would do this
    runpy.run_path(str(ROOT / "tests/gpu/emulation/startup/sitecustomize.py"))

import numpy as np  # noqa: E402
from bench_case import Case  # noqa: E402

import chainer  # noqa: E402

ON_GPU = os.environ.get("BENCH_DEVICE", "cuda") != "cpu"
QUICK = bool(os.environ.get("BENCH_QUICK"))

DEVICE = chainer.get_device("@cupy:0" if ON_GPU else "@numpy")
DEVICE.use()


def pick(full, quick):
    """Returns the first value, or the second in a quick run."""
    return quick if QUICK else full


def random(*shape, dtype=np.float32, seed=0):
    """Returns normally distributed numbers on the device."""
    return DEVICE.send(np.random.RandomState(seed).randn(*shape).astype(dtype))


def integers(high, *shape, seed=0):
    """Returns int32 numbers 0, ..., high - 1 on the device."""
    return DEVICE.send(np.random.RandomState(seed).randint(0, high, shape).astype(np.int32))


def synchronize():
    """Waits for the device."""
    DEVICE.backend.synchronize(DEVICE)


def repeated(step, count):
    """Returns a function that calls ``step`` several times and then waits for the device."""

    def call():
        for _ in range(count):
            step()
        synchronize()

    return call


def training_step(model, optimizer, batch, count, **config):
    """Returns a case of ``count`` training steps.

    Args:
        model: Function of the batch that returns the loss.
        optimizer: Optimizer, not set up yet.
        batch: Arguments of the model.
        count: Number of steps of a call.
        config: Entries of the configuration, set for good: a worker measures one case at a time.
    """
    model.to_device(DEVICE)
    optimizer.setup(model)
    for name in ("autotune", "use_cudnn_tensor_core"):
        setattr(chainer.global_config, name, config.get(name, DEFAULTS[name]))
    last = []

    def step():
        loss = model(*batch)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        last[:] = [loss.array]

    return Case([("", repeated(step, count))], lambda: [float(last[0])])


DEFAULTS = {
    name: getattr(chainer.global_config, name) for name in ("autotune", "use_cudnn_tensor_core")
}
