"""Links in which a program put something else in the place of a registered parameter."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.links.replaced_parameters import ReplacedParameterError

VALUES = np.array([[1, 2], [3, 4]], np.float32)
X = np.array([[1, -1]], np.float32)


def model(value=None):
    model = chainer.Sequential(L.Linear(2, 2))
    model[0].W = value
    return model


def train(model, optimizer=None):
    optimizer = optimizer or chainer.optimizers.SGD().setup(model)
    optimizer.update(lambda: F.sum(model(X)))


def call_with_hook(model):
    with chainer.link_hooks.TimerHook():
        model(X)


def train_then_replace(model):
    value = model[0].W
    del model[0].W
    model[0].add_param("W", (2, 2), initializer=VALUES)
    optimizer = chainer.optimizers.SGD().setup(model)
    train(model, optimizer)
    model[0].W = value
    optimizer.update()


USES = {
    "call": lambda model: model(X),
    "call with a hook": call_with_hook,
    "cleargrads": lambda model: model.cleargrads(),
    "count_params": lambda model: model.count_params(),
    "initialized": lambda model: list(model.params(include_uninit=False)),
    "initialized names": lambda model: list(model[0].namedparams(include_uninit=False)),
    "draw anew": lambda model: model.copy("init"),
    "copy": lambda model: copy.deepcopy(model)(X),
    "copyparams": lambda model: model.copyparams(chainer.Sequential(L.Linear(2, 2))),
    "addgrads": lambda model: model.addgrads(chainer.Sequential(L.Linear(2, 2))),
    "to_device": lambda model: model.to_device("@numpy"),
    "setup": train,
    "update": train_then_replace,
}


@pytest.mark.parametrize("value", [VALUES, 2.0, "text"], ids=["array", "float", "str"])
@pytest.mark.parametrize("use", sorted(USES))
def test_error_says_why(use, value):
    # Programs that expect the error of the earlier releases, or the class that fits, catch it.
    with pytest.raises(AttributeError, match=r"registered parameter.* was\s+replaced") as caught:
        USES[use](model(value))
    assert isinstance(caught.value, TypeError)
    assert type(value).__name__ in str(caught.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_zerograds():
    broken = chainer.Chain(c=model(None))
    with pytest.raises(ReplacedParameterError, match=r"'/c/0/W' of Linear.*del link\.W"):
        broken.zerograds()


def test_name_of_the_parameter_and_original_error():
    link = L.Linear(2, 2)
    link.b = None
    message = "no attribute 'cleargrad'.*'/b' of Linear"
    with pytest.raises(ReplacedParameterError, match=message) as caught:
        link.cleargrads()
    assert isinstance(caught.value.__cause__, AttributeError)


def test_source_of_a_copy():
    with pytest.raises(KeyError, match="no parameter 'W', but an object of type ndarray"):
        L.Linear(2, 2).copyparams(model(VALUES)[0])


def test_errors_of_other_attributes_stay():
    class Broken(L.Linear):
        def forward(self, x):
            return getattr(self, "missing")  # noqa: B009 - for the type checker

    with pytest.raises(AttributeError, match="no attribute 'missing'$") as caught:
        Broken(2, 2)(X)
    assert not isinstance(caught.value, ReplacedParameterError)


def test_arrays_are_saved_and_loaded(tmp_path):
    """As in release 7.8.1."""
    chainer.serializers.save_npz(tmp_path / "model", model(VALUES))
    loaded = chainer.Sequential(L.Linear(2, 2))
    chainer.serializers.load_npz(tmp_path / "model", loaded)
    np.testing.assert_array_equal(loaded[0].W.array, VALUES)
    other = model(np.zeros((2, 2), np.float32))
    chainer.serializers.load_npz(tmp_path / "model", other)
    np.testing.assert_array_equal(other[0].W, VALUES)


@pytest.mark.parametrize("delete", [False, True])
def test_variables_learn_to_learn(delete):
    """A step of gradient descent as part of a graph: d/dw (w - r w)^2 = 2 (1 - r)^2 w."""
    link = L.Linear(1, 1, nobias=True, initialW=np.full((1, 1), 3, np.float32))
    first = link.W
    first.cleargrad()
    (gradient,) = chainer.grad([link(X[:, :1]) ** 2], [first], enable_double_backprop=True)
    assert gradient is not None
    stepped = first - 0.1 * gradient
    if delete:
        del link.W
    setattr(link, "W", stepped)  # noqa: B010 - no parameter
    loss = link(X[:, :1]) ** 2
    link.cleargrads()
    loss.backward()
    np.testing.assert_allclose(first.grad, [[2 * 0.8**2 * 3]], rtol=1e-6)
