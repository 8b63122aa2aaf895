"""What the programs with Chainer share. Uses documented names only, so that every release runs the same text."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np

import bench_case
from bench_case import Case, Missing

if bench_case.USE_IDEEP:
    chainer.global_config.use_ideep = "auto"


def function(name):
    """Returns ``chainer.functions.<name>``; raises Missing where this release has none."""
    try:
        return getattr(F, name)
    except AttributeError as error:
        raise Missing(str(error)) from error


def random(*shape, seed=0):
    """Returns float32 samples of the standard normal distribution, the same for every NumPy."""
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def integers(high, *shape, seed=0):
    """Returns int32 samples of 0, ..., high - 1."""
    return np.random.RandomState(seed).randint(0, high, shape).astype(np.int32)


def fill(model, seed=0):
    """Gives all parameters the same values in every peer: scaled normal weights, zero biases, one gammas."""
    state = np.random.RandomState(seed)
    for name, parameter in sorted(model.namedparams()):
        array = parameter.array
        if array is None:
            raise ValueError("parameter {} is not initialised".format(name))
        if array.ndim < 2:
            array[...] = 1 if name.endswith("gamma") else 0
        else:
            fan_in = array.size // array.shape[0]
            array[...] = state.randn(*array.shape) / np.sqrt(fan_in)
    if bench_case.USE_IDEEP:
        model.to_intel64()
    return model




def training_step(model, optimizer, *batch):
    """Returns a case that times a whole training step (forward, backward, update) of ``model(*batch)``, a loss."""
    optimizer.setup(model)
    last = []

    def step():
        loss = model(*batch)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        last[:] = [loss.array]

    def result():
        return [float(last[0])]

    return Case([("", step)], result)
