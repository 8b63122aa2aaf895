"""What the programs with Chainer share: documented names only, so that every release runs them."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
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


def link(name):
    """Returns ``chainer.links.<name>``; raises Missing where this release has none."""
    try:
        return getattr(L, name)
    except AttributeError as error:
        raise Missing(str(error)) from error


def random(*shape, seed=0):
    """Returns float32 samples of the standard normal distribution, the same for every NumPy."""
    return np.asarray(np.random.RandomState(seed).randn(*shape), dtype=np.float32)


def integers(high, *shape, seed=0):
    """Returns int32 samples of 0, ..., high - 1."""
    return np.random.RandomState(seed).randint(0, high, shape).astype(np.int32)


def fill(model, seed=0):
    """Sets all parameters to the same values in every peer: scaled normal weights, zero biases."""
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
    """Returns a case that times a training step whose loss is ``model(*batch)``."""
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


class Constant:
    """Marks a float array that is passed as it is: no gradient for it is wanted."""

    def __init__(self, array):
        self.array = array


def operation(name, *arguments, gradient=True, check=True, **keywords):
    """Returns the preparation of a case that calls ``chainer.functions.<name>(*arguments,
    **keywords)``.

    Float arrays among the arguments, also inside lists, become Variables whose gradients are
    computed. Phases: ``forward`` and ``backward``, each alone.

    Args:
        gradient: Whether there is a backward phase.
        check: Whether outputs and gradients are compared with other peers' (False for random
            functions).
    """

    def prepare():
        call = function(name)
        inputs = []
        given = [_as_variables(argument, inputs) for argument in arguments]
        seeds = []

        def forward(_=None):
            return call(*given, **keywords)

        def backward(y):
            if isinstance(y, chainer.Variable):
                y.grad = seeds[0]
                y.backward()
                return None
            grad_outputs = [chainer.Variable(seed) for seed in seeds]
            for x, gx in zip(inputs, chainer.grad(_flat(y), inputs, grad_outputs)):
                x.grad_var = gx
            return None

        def seed(ys):
            seeds[:] = [random(*y.shape, seed=n).astype(y.dtype) for n, y in enumerate(ys, 1)]

        def clear(_):
            for x in inputs:
                x.cleargrad()

        def result():
            ys = _flat(forward())
            found = [y.array for y in ys]
            if gradient:
                clear(None)
                seed(ys)  # anew: upstream's hinge, for one, changes the gradient that it is given
                backward(forward())
                found += [x.grad for x in inputs]
                clear(None)
            return [
                float(abs(np.asarray(a, dtype=np.float64)).mean()) for a in found if a is not None
            ]

        if not gradient:
            return Case([("forward", forward)], result if check else None)
        seed(_flat(forward()))
        return Case(
            [("forward", forward), ("backward", backward), ("_clear", clear)],
            result if check else None,
        )

    return prepare


def _as_variables(argument, inputs):
    if isinstance(argument, Constant):
        return argument.array
    if isinstance(argument, (list, tuple)):
        return type(argument)(_as_variables(item, inputs) for item in argument)
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "f":
        inputs.append(chainer.Variable(argument))
        return inputs[-1]
    return argument


def _flat(outputs):
    """Returns the Variables among outputs (one, or nested tuples and lists of them) as a list."""
    if isinstance(outputs, chainer.Variable):
        return [outputs]
    return [variable for item in outputs for variable in _flat(item)]
