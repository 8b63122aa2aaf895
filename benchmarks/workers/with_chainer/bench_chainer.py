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
    """Returns the :class:`Operation` that calls ``chainer.functions.<name>(*arguments,
    **keywords)``: a row of the function table.

    Float arrays among the arguments, also inside lists, become Variables whose gradients are
    computed.

    Args:
        gradient: Whether there is a backward phase.
        check: Whether outputs and gradients are compared with other peers' (False for random
            functions).
    """
    return Operation(name, arguments, keywords, gradient, check)


class Operation:
    """A row of the function table, see :func:`operation`. Calling it prepares the timing of it:
    phases ``forward`` and ``backward``, each alone."""

    def __init__(self, name, arguments, keywords, gradient, check):
        self.name = name
        self.arguments = arguments
        self.keywords = keywords
        self.gradient = gradient
        self.check = check

    def prepare(self):
        """Returns a function that applies the operation, and the Variables it is applied to."""
        call = function(self.name)
        inputs = []
        given = [_as_variables(argument, inputs) for argument in self.arguments]

        def forward(_=None):
            return call(*given, **self.keywords)

        return forward, inputs

    def seeds(self, outputs):
        """Returns gradients for the outputs, the same in every peer."""
        return [random(*y.shape, seed=n).astype(y.dtype) for n, y in enumerate(outputs, 1)]

    def __call__(self):
        forward, inputs = self.prepare()
        seeds = []

        def backward(y):
            if isinstance(y, chainer.Variable):
                y.grad = seeds[0]
                y.backward()
                return None
            grad_outputs = [chainer.Variable(seed) for seed in seeds]
            for x, gx in zip(inputs, chainer.grad(variables(y), inputs, grad_outputs)):
                x.grad_var = gx
            return None

        def clear(_):
            for x in inputs:
                x.cleargrad()

        def result():
            ys = variables(forward())
            found = [y.array for y in ys]
            if self.gradient:
                clear(None)
                # Anew: upstream's hinge, for one, changes the gradient that it is given.
                seeds[:] = self.seeds(ys)
                backward(forward())
                found += [x.grad for x in inputs]
                clear(None)
            return [
                float(abs(np.asarray(a, dtype=np.float64)).mean()) for a in found if a is not None
            ]

        if not self.gradient:
            return Case([("forward", forward)], result if self.check else None)
        seeds[:] = self.seeds(variables(forward()))
        return Case(
            [("forward", forward), ("backward", backward), ("_clear", clear)],
            result if self.check else None,
        )


def _as_variables(argument, inputs):
    if isinstance(argument, Constant):
        return argument.array
    if isinstance(argument, (list, tuple)):
        return type(argument)(_as_variables(item, inputs) for item in argument)
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "f":
        inputs.append(chainer.Variable(argument))
        return inputs[-1]
    return argument


def variables(outputs):
    """Returns the Variables among outputs (one, or nested tuples and lists of them) as a list."""
    if isinstance(outputs, chainer.Variable):
        return [outputs]
    return [variable for item in outputs for variable in variables(item)]
