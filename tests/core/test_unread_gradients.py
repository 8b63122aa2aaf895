"""backward() leaves out gradients that lead to variables that are gone, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.core.autograd.variable_node import dead_leaves
from chainer.functions.rules import ExpressionFunction, UnaryFunction


class Counted(UnaryFunction):
    """Identity that notes how often its rule runs."""

    calls: list[str] = []

    def __init__(self, name="rule"):
        self.name = name

    def forward(self, inputs):
        return (inputs[0] + 0,)

    def gradient(self, ops, gy):
        Counted.calls.append(self.name)
        return gy


class CountedNode(chainer.FunctionNode):
    """The same, by a rule that promises nothing."""

    def forward(self, inputs):
        return (inputs[0] + 0,)

    def backward(self, indexes, gys):
        Counted.calls.append("node")
        return gys


class Twice(ExpressionFunction):
    """Function of two inputs that notes for which of them it is differentiated."""

    targets: list[tuple[int, ...]] = []

    def forward(self, inputs):
        return (inputs[0] + inputs[1],)

    def gradients(self, ops, targets, gy):
        Twice.targets.append(targets)
        return (gy,) * len(targets)


@pytest.fixture(autouse=True)
def _nothing_counted():
    Counted.calls.clear()
    Twice.targets.clear()
    dead_leaves.clear()


def array(*shape):
    return np.random.RandomState(0).randn(*shape).astype(np.float32)


def loss_of(p, apply, x=None):
    """Returns a loss of a parameter and an input, which is gone unless it is given."""
    x = chainer.Variable(array(3)) if x is None else x
    return F.sum(Twice().apply((p * p, apply(x)))[0])


def test_gradients_of_an_input_that_is_gone_are_left_out():
    p = chainer.Parameter(array(3))
    loss_of(p, lambda x: Counted().apply((x,))[0]).backward()
    assert Counted.calls == []
    assert Twice.targets == [(0,)]
    np.testing.assert_array_equal(p.grad, 2 * p.array)


def test_an_input_that_is_alive_gets_its_gradient():
    p, x = chainer.Parameter(array(3)), chainer.Variable(array(3))
    loss_of(p, F.tanh)  # another input dies
    assert dead_leaves
    loss_of(p, lambda x: Counted().apply((x,))[0], x).backward()
    assert Counted.calls == ["rule"]
    np.testing.assert_array_equal(x.grad, np.ones(3, np.float32))


def test_one_of_two_inputs_is_gone():
    p, alive = chainer.Parameter(array(3)), chainer.Variable(array(3))

    def both(x):
        return Counted("dead").apply((x,))[0] * Counted("alive").apply((alive,))[0]

    loss_of(p, both).backward()
    assert Counted.calls == ["alive"]
    np.testing.assert_array_equal(alive.grad, array(3))


def test_nothing_is_left_of_a_graph_of_inputs_that_are_gone():
    y = F.sum(Counted().apply((chainer.Variable(array(3)),))[0])
    y.backward()
    assert Counted.calls == []
    assert y.grad is None


def test_rules_that_promise_nothing_run():
    p = chainer.Parameter(array(3))
    rule = Counted("before")
    loss_of(p, lambda x: CountedNode().apply((rule.apply((x,))[0],))[0]).backward()
    assert Counted.calls == ["node"]
    assert Twice.targets == [(0, 1)]


def test_a_rule_of_another_package_needs_a_promise_of_its_own():
    class Replacing(type(F.sqrt(chainer.Variable(array(1) ** 2)).creator)):
        def backward_arrays(self, indexes, gys):
            Counted.calls.append("replaced")
            return gys

    class Promising(Replacing):
        is_rule_pure = True

    p = chainer.Parameter(array(3))
    for kind in (Replacing, Promising):
        loss_of(p, lambda x, kind=kind: kind().apply((x * x,))[0]).backward()
    assert Counted.calls == ["replaced"]
    assert not Replacing._traits.is_rule_pure
    assert Promising._traits.is_rule_pure


@pytest.mark.parametrize("options", [{"retain_grad": True}, {"enable_double_backprop": True}])
def test_options_that_give_other_gradients_away(options):
    p = chainer.Parameter(array(3))
    loss_of(p, lambda x: Counted().apply((x,))[0]).backward(**options)
    assert Counted.calls == ["rule"]


def test_retained_gradients_of_intermediate_variables():
    p = chainer.Parameter(array(3))
    x = chainer.Variable(array(3))
    h = F.tanh(x)
    y = F.sum(p * h)
    del x
    y.backward(retain_grad=True)
    np.testing.assert_array_equal(h.grad, p.array)


def test_debug_mode_differentiates_everything():
    p = chainer.Parameter(array(3))
    with chainer.using_config("debug", True):
        loss_of(p, lambda x: Counted().apply((x,))[0]).backward()
    assert Counted.calls == ["rule"]


def test_hooks_see_everything():
    seen = []

    class Hook(chainer.FunctionHook):
        name = "unread"

        def backward_postprocess(self, function, in_data, out_grad):
            seen.append(type(function).__name__)

    p = chainer.Parameter(array(3))
    with Hook():
        loss_of(p, lambda x: Counted().apply((x,))[0]).backward()
    assert "Counted" in seen
    seen.clear()

    def hooked(x):
        function = Counted()
        function.add_hook(Hook())
        return function.apply((x,))[0]

    loss_of(p, hooked).backward()
    assert seen == ["Counted"]


def test_gradients_that_were_set_for_other_outputs_are_used_up():
    # A function of several outputs takes the gradients of all of them, as in test_backward.py.
    p = chainer.Parameter(array(3))
    x = chainer.Variable(array(6))
    a, b = F.split_axis(x, 2, 0)
    y = F.sum(p * a)
    b.grad = np.ones(3, np.float32)
    del x
    y.backward()
    assert b.grad is None


def test_a_variable_of_the_node_counts_as_alive():
    p = chainer.Parameter(array(3))
    x = chainer.Variable(array(3))
    node = x.node
    y = F.sum(p * x)
    del x
    variable = node.get_variable()
    y.backward()
    np.testing.assert_array_equal(variable.grad, p.array)


def test_a_graph_can_be_differentiated_again():
    p = chainer.Parameter(array(3))
    loss = loss_of(p, F.tanh)
    loss.backward()
    first = p.grad.copy()
    loss.backward()
    np.testing.assert_array_equal(p.grad, 2 * first)


def test_parameters_that_are_gone():
    p, q = chainer.Parameter(array(3)), chainer.Parameter(array(3))
    y = F.sum(p * Counted().apply((q,))[0])
    del q
    y.backward()
    assert Counted.calls == []
    np.testing.assert_array_equal(p.grad, array(3))


def test_a_gradient_of_a_gradient():
    p = chainer.Parameter(array(3))

    def penalty(x):
        y = F.sum(F.tanh(p * x) * Counted("forward").apply((x,))[0])
        (gx,) = chainer.grad([y], [x], enable_double_backprop=True)
        return F.sum(gx * gx)

    x = chainer.Variable(array(3))
    penalty(x).backward()
    expected, p.grad = p.grad, None
    Counted.calls.clear()
    penalty(chainer.Variable(array(3))).backward()
    assert p.grad.tobytes() == expected.tobytes()
    # Once in chainer.grad. The second pass needs the gradient of the gradient only.
    assert Counted.calls == ["forward"]


def random_loss(random, leaves):
    """Returns a loss of a random graph, which uses all leaves."""
    values = list(leaves)
    for _ in range(25):
        a, b = [values[random.randint(len(values))] for _ in range(2)]
        kind = random.randint(6)
        if kind == 0:
            values.append(F.tanh(a))
        elif kind == 1:
            values.append(a * b)
        elif kind == 2:
            values.append(a - b)
        elif kind == 3:
            values.append(F.concat(F.split_axis(a, 2, 0), 0) + b)
        elif kind == 4:
            values.append(F.broadcast_to(F.sum(a, axis=0, keepdims=True), a.shape) * 0.1)
        else:
            values.append(CountedNode().apply((a,))[0])
    return sum([F.sum(F.tanh(v)) for v in values[3:]])


@pytest.mark.parametrize("seed", range(12))
def test_other_gradients_have_the_same_bits(seed):
    found = []
    for is_alive in (True, False):
        random = np.random.RandomState(seed)
        params = [chainer.Parameter(random.randn(4, 3).astype(np.float32)) for _ in range(2)]
        inputs = [chainer.Variable(random.randn(4, 3).astype(np.float32)) for _ in range(2)]
        order = [params[0], inputs[0], params[1], inputs[1]]
        loss = random_loss(random, order)
        order.clear()
        if not is_alive:
            inputs.clear()
        loss.backward()
        found.append([p.grad.tobytes() for p in params])
    assert found[0] == found[1]


def test_the_input_of_a_layer():
    W, b = chainer.Parameter(array(4, 3)), chainer.Parameter(array(4))
    found = []
    for x in (array(2, 3), chainer.Variable(array(2, 3)), None):
        W.cleargrad()
        b.cleargrad()
        y = F.sum(F.linear(chainer.Variable(array(2, 3)) if x is None else x, W, b))
        y.backward()
        found.append((W.grad.tobytes(), b.grad.tobytes()))
    assert found[0] == found[1] == found[2]


def test_a_layer_is_not_differentiated_with_respect_to_an_input_that_is_gone():
    p = chainer.Parameter(array(3))
    F.sum(Twice().apply((p * p, chainer.Variable(array(3))))[0]).backward()
    assert Twice.targets == [(0,)]
