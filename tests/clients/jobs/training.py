"""What the jobs have in common: training steps and checks of what came out."""

import os
import tempfile

import numpy as np

import chainer


def as_array(x):
    """Returns the array of a variable, or the array itself."""
    return x.array if isinstance(x, chainer.Variable) else x


def step(model, loss, optimizer=None):
    """Trains for one step; returns the loss. Each parameter that has a gradient must be finite."""
    if optimizer is None:
        optimizer = chainer.optimizers.SGD(lr=1e-3).setup(model)
    model.cleargrads()
    value = loss()
    assert np.isfinite(as_array(value)), value
    value.backward()
    check_gradients(model, every=False)
    optimizer.update()
    return float(as_array(value))


def train(model, loss, steps=3, lr=0.01):
    """Trains for some steps; the loss must be finite, and a parameter must change."""
    optimizer = chainer.optimizers.Adam(lr).setup(model)
    # Links may infer the sizes of parameters at their first call.
    loss()
    before = {name: as_array(p).copy() for name, p in model.namedparams() if p.is_initialized}
    losses = [step(model, loss, optimizer) for _ in range(steps)]
    after = dict(model.namedparams())
    assert any((as_array(after[name]) != array).any() for name, array in before.items())
    return losses


def check_gradients(model, every=True):
    """Checks that gradients are finite, and that all or some parameters have one."""
    found = 0
    for name, parameter in model.namedparams():
        if parameter.array is None or parameter.grad is None:
            assert not every or parameter.array is None, f"{name} has no gradient"
            continue
        found += 1
        assert np.isfinite(parameter.grad).all(), f"the gradient of {name} is not finite"
    assert found > 0


def check_npz(model):
    """Saves the model to a file, changes it, and loads it; the parameters must be as before."""
    before = {name: p.array.copy() for name, p in model.namedparams() if p.array is not None}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.npz")
        chainer.serializers.save_npz(path, model)
        for parameter in model.params():
            if parameter.array is not None:
                parameter.array[...] = 0
        chainer.serializers.load_npz(path, model)
    for name, parameter in model.namedparams():
        if name in before:
            np.testing.assert_array_equal(parameter.array, before[name])


def run_recipe(name):
    """Runs the program of a recipe; it must print what its page says."""
    from scripts.run_guide import RECIPES, run_page

    run_page(RECIPES / f"{name}.md")
