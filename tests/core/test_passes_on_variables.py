"""Passes whose gradients are Variables: nothing is lost on the short way through them."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import FunctionNode, Variable
from chainer.core.autograd.gradient_errors import GradientTypeError
from chainer.functions.rules.formulas.tracing import Programs

X = np.linspace(0.2, 0.8, 4)


class Square(FunctionNode):
    """A function whose rule is given."""

    def __init__(self, rule=None):
        self.rule = rule

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] ** 2,)

    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        if self.rule is not None:
            return self.rule(self, x, grad_outputs[0])
        return (2 * x * grad_outputs[0],)


def grad(y, x, **options):
    return chainer.grad([y], [x], enable_double_backprop=True, **options)[0]


@pytest.mark.parametrize(
    ("rule", "error", "text"),
    [
        (lambda f, x, gy: (2.0,), GradientTypeError, "type of gradients returned from backward"),
        (lambda f, x, gy: (gy.array,), GradientTypeError, "type of gradients returned"),
        (lambda f, x, gy: [gy, gy, gy], ValueError, "number of gradients returned"),
        (lambda f, x, gy: gy, GradientTypeError, "must return a tuple"),
        (lambda f, x, gy: (gy[:2],), ValueError, "shape of gradients returned"),
        (lambda f, x, gy: (F.cast(gy, "f"),), TypeError, "dtype of gradients returned"),
    ],
)
def test_errors_of_wrong_rules(rule, error, text):
    x = Variable(X)
    with pytest.raises(error, match=text):
        grad(Square(rule).apply((x,))[0], x)


def test_a_list_is_accepted_as_the_result_of_a_rule():
    x = Variable(X)
    y = Square(lambda f, x, gy: [2 * x * gy]).apply((x,))[0]
    np.testing.assert_allclose(grad(y, x).array, 2 * X)


def test_a_rule_may_unchain_its_function():
    def rule(function, x, gy):
        function.unchain()
        return (gy,)

    x = Variable(X)
    with pytest.warns(UserWarning, match="all gradients are None"):
        assert grad(Square(rule).apply((F.exp(x),))[0], x) is None


def test_a_rule_that_retains_nothing_is_explained():
    class Forgetful(FunctionNode):
        def forward(self, inputs):
            return inputs

        def backward(self, target_input_indexes, grad_outputs):
            return (self.get_retained_inputs()[0] * grad_outputs[0],)

    x = Variable(X)
    with pytest.raises(IndexError) as caught:
        grad(Forgetful().apply((x,))[0], x)
    assert "retains nothing" in "".join(caught.value.__notes__)


def test_hooks_of_one_function_see_its_gradient():
    class Count(chainer.FunctionHook):
        calls = 0

        def backward_preprocess(self, function, in_data, out_grad):
            self.calls += 1

    hook = Count()
    x = Variable(X)
    y = F.tanh(x)
    y.creator_node.add_hook(hook)
    grad(F.exp(y), x)
    assert hook.calls == 1


def test_intermediate_gradients_are_retained_on_demand():
    x = Variable(X)
    y = F.tanh(x)
    z = F.exp(y)
    gx = grad(z, x, retain_grad=True)
    np.testing.assert_allclose(y.grad, np.exp(np.tanh(X)))
    np.testing.assert_allclose(x.grad, gx.array)
    assert y.grad_var.creator_node is not None


def test_gradients_that_are_targets_and_flow_on():
    x = Variable(X)
    y = F.tanh(x)
    z = F.exp(y) + y
    gy, gx = chainer.grad([z], [y, x], enable_double_backprop=True)
    expected = np.exp(np.tanh(X)) + 1
    np.testing.assert_allclose(gy.array, expected)
    np.testing.assert_allclose(gx.array, expected * (1 - np.tanh(X) ** 2))
    ggy = grad(F.sum(gx), y)
    assert ggy.shape == y.shape
    gy, gx = chainer.grad([z], [y, x])
    np.testing.assert_allclose(gy.array, expected)
    np.testing.assert_allclose(gx.array, expected * (1 - np.tanh(X) ** 2))


@pytest.mark.parametrize("lazy", [False, True])
def test_sums_may_be_lazy(lazy):
    with chainer.using_config("lazy_grad_sum", lazy):
        x = Variable(X)
        y = F.tanh(x)
        found = grad(F.sum(y * y * y + F.exp(y) * x), x)
        second = grad(F.sum(found), x)
    t = np.tanh(X)
    d = 1 - t * t
    np.testing.assert_allclose(found.array, (3 * t * t + np.exp(t) * X) * d + np.exp(t))
    assert second.shape == X.shape


def test_rules_that_accumulate_by_themselves():
    class Accumulating(Square):
        def backward_accumulate(self, target_input_indexes, grad_outputs, grad_inputs):
            (gx,) = self.backward(target_input_indexes, grad_outputs)
            return (gx if grad_inputs[0] is None else gx + 10 * grad_inputs[0],)

    x = Variable(X)
    h = F.identity(x)
    y = F.exp(h) + Accumulating().apply((h,))[0]
    y.grad = np.ones(4)
    y.backward(enable_double_backprop=True)
    # The exponential is differentiated first, so that its gradient is there already.
    np.testing.assert_allclose(x.grad, 2 * X + 10 * np.exp(X))


def test_an_unchained_target_has_no_functions_behind_it():
    x = Variable(X)
    y = F.tanh(x)
    z = F.exp(y)
    y.unchain()
    np.testing.assert_allclose(grad(z, y).array, np.exp(np.tanh(X)))


def test_functions_behind_the_targets_are_not_visited():
    visited = []

    def rule(function, x, gy):
        visited.append(function)
        return (gy,)

    x = Variable(X)
    h = Square(rule).apply((x,))[0]  # a target's own creator may be asked about other outputs
    y = F.exp(h)
    grad(F.tanh(y), y)
    assert not visited


def test_the_graph_is_released():
    x = Variable(X)
    y = F.tanh(x)
    first = grad(y, x)
    second = grad(first, x)
    nodes = [weakref.ref(v.creator_node) for v in (y, first, second)]
    del y, first, second
    gc.collect()
    assert [node() for node in nodes] == [None] * 3


def test_third_order_takes_no_more_memory_than_without_formulas(monkeypatch):
    def peak():
        x = Variable(np.linspace(-1, 1, 20000))
        tracemalloc.start()
        y = F.tanh(x)
        for _ in range(3):
            y = grad(y, x)
        F.sum(y * y).backward()
        _, found = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return found

    peak()
    with_formulas = peak()
    monkeypatch.setattr(Programs, "find", lambda self, *arguments: None)
    assert with_formulas <= peak()
