"""Gradients of a leaf that its kernel adds up by itself: ``FunctionNode.gradient_sum``."""

import numpy as np
import pytest

import chainer
from chainer import functions as F


class Collector:
    """Adds what it was given when the pass ends."""

    def __init__(self, total):
        self.total = total
        self.terms = []

    def add(self, term):
        self.terms.append(term)
        return True

    def finish(self):
        for term in self.terms:
            self.total += term
        self.terms = []


class Scaled(chainer.FunctionNode):
    """``factor * w``, whose rule gives its gradient to a collector where it may."""

    def __init__(self, factor, tells, collectors):
        self.factor = factor
        self.tells = tells
        self.collectors = collectors

    def forward(self, inputs):
        return (self.factor * inputs[0],)

    def _made(self, total):
        self.collectors.append(Collector(total))
        return self.collectors[-1]

    def backward_arrays(self, indexes, grad_outputs):
        gradient = self.factor * grad_outputs[0]
        found = self.gradient_sum(0, self._made)
        if found is not None:
            self.collected = True
            found[0].add(gradient)
            return (found[1],)
        return (self.made_gradient(0, gradient) if self.tells else gradient,)

    def backward(self, indexes, grad_outputs):
        return (self.factor * grad_outputs[0],)


class Passed(chainer.FunctionNode):
    """``a + b``, whose rule returns one array for both inputs."""

    def forward(self, inputs):
        return (inputs[0] + inputs[1],)

    def backward_arrays(self, indexes, grad_outputs):
        return grad_outputs * len(indexes)

    def backward(self, indexes, grad_outputs):
        return grad_outputs * len(indexes)


def scaled_sum(w, factors, tells, collectors):
    nodes = [Scaled(factor, tells, collectors) for factor in factors]
    return sum(node.apply((w,))[0] for node in nodes), nodes


@pytest.mark.parametrize("tells", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_kernel_adds_all_gradients_but_the_first_or_the_first_two(count, tells):
    w = chainer.Parameter(np.arange(3, dtype=np.float32))
    collectors = []
    y, nodes = scaled_sum(w, range(1, count + 1), tells, collectors)
    F.sum(y).backward()
    np.testing.assert_array_equal(w.grad, np.full(3, count * (count + 1) / 2))
    collected = sum(hasattr(node, "collected") for node in nodes)
    assert collected == max(count - (1 if tells else 2), 0)
    assert len(collectors) == min(collected, 1)


def test_a_second_pass_begins_anew():
    w = chainer.Parameter(np.arange(3, dtype=np.float32))
    collectors = []
    y, _ = scaled_sum(w, (1, 2), True, collectors)
    loss = F.sum(y)
    loss.backward()
    first = w.grad
    loss.backward()
    np.testing.assert_array_equal(w.grad, np.full(3, 6))
    assert len(collectors) == 2
    assert collectors[1].total is not first


def test_gradients_of_other_functions_are_added_to_the_same_sum():
    w = chainer.Parameter(np.arange(3, dtype=np.float32))
    collectors = []
    y, _ = scaled_sum(w, (1, 2, 3), True, collectors)
    F.sum(F.exp(w) + (y + F.square(w))).backward()
    np.testing.assert_allclose(w.grad, np.exp(w.array) + 6 + 2 * w.array, rtol=1e-6)


class Doubled(Scaled):
    """``2 factor * w``, whose collector takes two arguments."""

    def _made_of_two(self, total):
        self.collectors.append(Pairs(total))
        return self.collectors[-1]

    def backward_arrays(self, indexes, grad_outputs):
        gradient = self.factor * grad_outputs[0]
        found = self.gradient_sum(0, self._made_of_two)
        if found is not None:
            found[0].add(gradient, 2)
            return (found[1],)
        return (self.made_gradient(0, 2 * gradient),)

    def forward(self, inputs):
        return (2 * self.factor * inputs[0],)


class Pairs(Collector):
    def add(self, term, factor):
        return super().add(factor * term)


def test_functions_of_two_kinds_add_to_one_leaf():
    # Such as a linear function and an embedding with the same weight.
    w = chainer.Parameter(np.arange(3, dtype=np.float32))
    collectors = []
    kinds = (Scaled, Doubled) * 4
    nodes = [kind(n, True, collectors) for n, kind in enumerate(kinds)]
    F.sum(sum(node.apply((w,))[0] for node in nodes)).backward()
    expected = sum(n * (2 if kind is Doubled else 1) for n, kind in enumerate(kinds))
    np.testing.assert_array_equal(w.grad, np.full(3, expected))
    assert {type(each) for each in collectors} == {Collector, Pairs}
    assert len(collectors) == 2


def test_an_array_that_another_leaf_has_is_not_changed():
    v, w = (chainer.Parameter(np.zeros(3, np.float32)) for _ in range(2))
    collectors = []
    (late,) = Scaled(2, True, collectors).apply((w,))
    (later,) = Scaled(3, True, collectors).apply((w,))
    # Ranks: the gradient that both leaves get comes first.
    (both,) = Passed().apply((v, w))
    for _ in range(3):
        both = F.identity(both) * 1
    F.sum(both + late + later).backward()
    np.testing.assert_array_equal(v.grad, np.ones(3))
    np.testing.assert_array_equal(w.grad, np.full(3, 6))


def test_an_array_that_is_told_but_not_the_sum_opens_nothing():
    v, w = (chainer.Parameter(np.zeros(3, np.float32)) for _ in range(2))
    own = np.full(3, 5, np.float32)

    class Liar(Passed):
        def backward_arrays(self, indexes, grad_outputs):
            self.made_gradient(1, own)
            return grad_outputs * len(indexes)

    collectors = []
    (first,) = Liar().apply((v, w))
    for _ in range(3):
        first = first * 1
    (second,) = Scaled(2, True, collectors).apply((w,))
    F.sum(first + second).backward()
    assert collectors == []
    np.testing.assert_array_equal(v.grad, np.ones(3))
    np.testing.assert_array_equal(w.grad, np.full(3, 3))


def test_results_and_observed_gradients_are_not_collected():
    source = chainer.Parameter(np.arange(3, dtype=np.float32))
    collectors = []
    y, _ = scaled_sum(F.tanh(source), (1, 2, 3), True, collectors)
    F.sum(y).backward()
    y, _ = scaled_sum(source, (1, 2, 3), True, collectors)
    with chainer.function_hooks.TimerHook():
        F.sum(y).backward()
    y, _ = scaled_sum(source, (1, 2, 3), True, collectors)
    chainer.grad([F.sum(y)], [source])
    assert collectors == []
