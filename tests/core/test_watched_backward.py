"""Backward passes that tell when the gradient of a leaf is complete."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core.autograd.backprop import backward, backward_watched
from chainer.core.autograd.watched_backward import count_uses


def watched(y: chainer.Variable, **options: Any) -> list[tuple[chainer.Variable, np.ndarray]]:
    told: list[tuple[chainer.Variable, np.ndarray]] = []
    backward_watched(y, lambda leaf, gradient: told.append((leaf, gradient.copy())), **options)
    return told


def make_model() -> chainer.Sequential:
    return chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 4), F.tanh, L.Linear(4, 2))


def test_gradients_are_those_of_backward() -> None:
    model = make_model()
    x = np.random.RandomState(0).normal(size=(5, 3)).astype(np.float32)
    model.cleargrads()
    F.sum(model(x) ** 2).backward()
    expected = {name: param.grad.copy() for name, param in model.namedparams()}
    model.cleargrads()
    told = watched(F.sum(model(x) ** 2))
    assert {id(leaf) for leaf, _ in told} == {id(param) for param in model.params()}
    assert len(told) == 6
    for name, param in model.namedparams():
        np.testing.assert_array_equal(param.grad, expected[name])
        (gradient,) = [gradient for leaf, gradient in told if leaf is param]
        np.testing.assert_array_equal(gradient, expected[name])


def test_last_layer_is_told_first() -> None:
    model = make_model()
    model.cleargrads()
    order = [id(leaf) for leaf, _ in watched(F.sum(model(np.ones((1, 3), np.float32))))]
    layers = [{id(p) for p in model[i].params()} for i in (4, 2, 0)]
    assert [set(order[i : i + 2]) for i in (0, 2, 4)] == layers


def test_told_while_others_are_computed() -> None:
    """The gradient of the second factor is known before the first function is differentiated."""
    events: list[str] = []

    class Noted(chainer.FunctionNode):
        def forward(self, inputs: Any) -> Any:
            return (inputs[0] * 1,)

        def backward(self, target_input_indexes: Any, grad_outputs: Any) -> Any:
            events.append("backward")
            return grad_outputs

    x = chainer.Variable(np.ones(3, np.float32))
    w = chainer.Variable(np.ones(3, np.float32))
    y = F.sum(Noted().apply((x,))[0] * w)
    backward_watched(y, lambda leaf, _: events.append("w" if leaf is w else "x"))
    assert events == ["w", "backward", "x"]


def test_leaf_with_several_uses_is_told_once_with_the_sum() -> None:
    x = chainer.Variable(np.array([2.0, 3.0], np.float32))
    y = F.sum(x * x + F.exp(x) * x)
    assert count_uses(y.node) == {x.node: 4}
    ((leaf, gradient),) = watched(y)
    assert leaf is x
    values = x.array
    np.testing.assert_allclose(gradient, 2 * values + np.exp(values) * (1 + values), rtol=1e-6)
    np.testing.assert_array_equal(x.grad, gradient)


def test_previous_gradient_is_not_part_of_it() -> None:
    x = chainer.Variable(np.ones(2, np.float32))
    x.grad = np.full(2, 10, np.float32)
    ((_, gradient),) = watched(F.sum(2 * x))
    np.testing.assert_array_equal(gradient, [2, 2])
    np.testing.assert_array_equal(x.grad, [12, 12])


def test_unreached_leaf_is_not_told() -> None:
    class Stopped(chainer.FunctionNode):
        def forward(self, inputs: Any) -> Any:
            return (inputs[0] * 1,)

        def backward(self, indexes: Any, grads: Any) -> Any:
            return (None,)

    x, w = chainer.Variable(np.ones(2, np.float32)), chainer.Variable(np.ones(2, np.float32))
    told = watched(F.sum(Stopped().apply((x,))[0] + w))
    assert [leaf for leaf, _ in told] == [w]
    assert x.grad is None


def test_loss_scale() -> None:
    model = L.Linear(2, 1)
    model.cleargrads()
    told = watched(F.sum(model(np.ones((1, 2), np.float32))), loss_scale=8.0)
    assert {float(gradient.max()) for _, gradient in told} == {8.0}
    assert model.W.loss_scale == 8.0


def test_with_function_hooks() -> None:
    x = chainer.Variable(np.array([2.0, 3.0], np.float32))
    with chainer.function_hooks.TimerHook():
        ((_, gradient),) = watched(F.sum(x * x + F.exp(x)))
    np.testing.assert_allclose(gradient, 2 * x.array + np.exp(x.array), rtol=1e-6)
    np.testing.assert_array_equal(x.grad, gradient)


def test_root_without_creator() -> None:
    x = chainer.Variable(np.ones((), np.float32))
    assert watched(x) == []
    assert x.grad == 1


def test_error_of_the_callback_is_raised() -> None:
    x = chainer.Variable(np.ones((), np.float32))

    def fail(leaf: chainer.Variable, gradient: np.ndarray) -> None:
        raise ValueError("full")

    with pytest.raises(ValueError, match="full"):
        backward_watched(x * 2, fail)


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_that_is_taken_is_not_stored(create_graph: bool) -> None:
    model = make_model()
    x = np.random.RandomState(0).normal(size=(5, 3)).astype(np.float32)
    model.cleargrads()
    F.sum(model(x) ** 2).backward()
    expected = model[2].W.grad.copy()
    model.cleargrads()
    taken: list[np.ndarray] = []

    def take(leaf: chainer.Variable, gradient: np.ndarray) -> bool:
        if leaf is model[2].W:
            taken.append(gradient)
        return leaf is model[2].W

    backward(F.sum(model(x) ** 2), False, create_graph, None, take)
    assert model[2].W.grad is None
    np.testing.assert_allclose(taken[0], expected, rtol=1e-6)
    assert all(p.grad is not None for p in model.params() if p is not model[2].W)


def test_loss_scale_of_gradients_that_are_taken() -> None:
    model = make_model()
    model.cleargrads()
    backward_watched(F.sum(model(np.ones((1, 3), "f"))), lambda leaf, gradient: True, 4.0)
    assert all(param.grad is None and param.loss_scale == 4.0 for param in model.params())
