"""Groups of parameters with hyperparameters of their own."""

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import optimizers


def make(optimizer=None):
    model = chainer.Sequential(L.Linear(2, 2), L.Linear(2, 2))
    return model, (optimizer or optimizers.SGD(lr=0.5)).setup(model)


def step(model, optimizer, grad=1.0):
    before = {path: param.array.copy() for path, param in model.namedparams()}
    for param in model.params():
        param.grad = np.full_like(param.array, grad)
    optimizer.update()
    return {path: before[path] - param.array for path, param in model.namedparams()}


@pytest.mark.parametrize(
    "select",
    [
        lambda model: model[1],
        lambda model: [model[1]],
        lambda model: [model[1].W, model[1].b],
        lambda model: lambda path, param: path.startswith("/1/"),
    ],
)
def test_selections(select):
    model, optimizer = make()
    group = optimizer.group(select(model), lr=0.25)
    for path, change in step(model, optimizer).items():
        np.testing.assert_allclose(change, 0.25 if path.startswith("/1/") else 0.5, rtol=1e-6)
    group.lr = 0.125
    optimizer.lr = 1.0
    for path, change in step(model, optimizer).items():
        np.testing.assert_allclose(change, 0.125 if path.startswith("/1/") else 1.0, rtol=1e-5)
    assert group.lr == 0.125
    assert repr(group) == "<ParameterGroup of 2 parameters, lr=0.125>"


def test_one_parameter_and_inherited_values():
    model, optimizer = make(optimizers.MomentumSGD(lr=0.5, momentum=0.0))
    group = optimizer.group(model[0].b, momentum=0.5)
    assert group.lr == 0.5
    optimizer.lr = 0.1
    assert group.lr == 0.1 and model[0].b.update_rule.hyperparam.momentum == 0.5


def test_weight_decay_without_such_a_hyperparameter():
    model, optimizer = make()
    model[0].W.array[...] = 2
    group = optimizer.group(model[0].W, weight_decay=0.1)
    change = step(model, optimizer)
    np.testing.assert_allclose(change["/0/W"], 0.5 * (1 + 0.1 * 2), rtol=1e-6)
    np.testing.assert_allclose(change["/1/W"], 0.5, rtol=1e-6)
    group.weight_decay = 0  # replaces the hook
    np.testing.assert_allclose(step(model, optimizer)["/0/W"], 0.5, rtol=1e-6)


def test_names_that_optimizers_call_differently():
    model, optimizer = make(optimizers.AdamW(weight_decay_rate=0.01))
    group = optimizer.group(model[0], lr=0.5, weight_decay=0)
    hyperparam = model[0].W.update_rule.hyperparam
    assert (hyperparam.alpha, hyperparam.weight_decay_rate, group.lr) == (0.5, 0, 0.5)
    assert model[1].W.update_rule.hyperparam.weight_decay_rate == 0.01


def test_the_last_group_counts():
    model, optimizer = make()
    optimizer.group(lambda path, param: True, lr=0.1)
    optimizer.group(model[0].W, lr=0.2)
    change = step(model, optimizer)
    np.testing.assert_allclose(change["/0/W"], 0.2, rtol=1e-5)
    np.testing.assert_allclose(change["/0/b"], 0.1, rtol=1e-5)


def test_errors():
    model, optimizer = make()
    with pytest.raises(AttributeError, match="no hyperparameter 'alpha'; known ones: lr, weight"):
        optimizer.group(model[0], alpha=1)
    assert model[0].W.update_rule.hyperparam.parent is optimizer.hyperparam  # nothing changed
    with pytest.raises(ValueError, match="selection has no parameter; those of the target: /0/W"):
        optimizer.group(lambda path, param: False, lr=1)
    with pytest.raises(ValueError, match="does not belong to the optimizer's target"):
        optimizer.group(L.Linear(1, 1), lr=1)
    with pytest.raises(TypeError, match="it contains int"):
        optimizer.group([1], lr=1)
    with pytest.raises(RuntimeError, match="not set up"):
        optimizers.SGD().group(model, lr=1)
