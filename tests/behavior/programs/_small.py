"""Trains small models and returns what a program would print.

Programs beside this file import it. It runs in Python 3.7, too.
"""

import chainer
import numpy as np


def trained(model, loss_of, optimizer=None, steps=3, hooks=()):
    """Trains a model; returns the losses, and means of the magnitudes of parameters and states."""
    optimizer = optimizer or chainer.optimizers.Adam(0.01)
    optimizer.setup(model)
    for hook in hooks:
        optimizer.add_hook(hook)
    losses = []
    for step in range(steps):
        loss = loss_of(step)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    return losses, [magnitude(p.array) for _, p in sorted(model.namedparams())]


def magnitude(array):
    """Mean of the magnitudes of the elements."""
    return float(np.abs(np.asarray(array, "d")).mean())


def noise(*shape):
    """Standard normal numbers in float32."""
    return np.random.randn(*shape).astype("f")


def chain(**links):
    """A chain of links by name."""
    model = chainer.Chain()
    with model.init_scope():
        for name in sorted(links):
            setattr(model, name, links[name])
    return model
