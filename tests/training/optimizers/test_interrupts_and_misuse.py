"""Ctrl-C while parameters are updated, and settings that are surely a mistake."""

from __future__ import annotations

import signal
import sys
import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import MisuseWarning
from chainer.training import optimizers as O
from chainer.training.optimizers import hooks as H
from tests.training.small_models import Pair, set_grads


def updated(interrupt_at=None):
    """Makes an update, with Ctrl-C before one of its opcodes; returns what it has left."""
    model = chainer.Link(a=(2,), b=(3,), c=(300,))
    for param in model.params():
        param.array[...] = 1
        param.grad = np.ones_like(param.array)
    optimizer = O.Adam().setup(model)
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        if event == "opcode":
            count += 1
            if count == interrupt_at:
                signal.raise_signal(signal.SIGINT)
        return trace

    interrupted = False
    sys.settrace(trace)
    try:
        optimizer.update()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        sys.settrace(None)
    rules = [param.update_rule for param in model.params()]
    states = [tuple(v.tolist() for v in (rule.state or {}).values()) for rule in rules]
    left = [param.array.tolist() for param in model.params()], [rule.t for rule in rules], states
    return count, interrupted, (optimizer.t, *left)


def test_an_interrupted_update_is_complete_or_not_begun():
    updated()  # what is imported and remembered at the first update
    count, interrupted, complete = updated()
    assert not interrupted
    begun = (0, [[1.0] * n for n in (2, 3, 300)], [0, 0, 0], [()] * 3)
    seen = set()
    for at in range(1, count + 1, max(1, count // 150)):
        _, interrupted, left = updated(at)
        assert interrupted
        assert left in (begun, complete), f"opcode {at} of {count}"
        seen.add(left == complete)
    assert seen == {True, False}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_not_held_back():
    model = Pair()
    optimizer = O.SGD().setup(model)
    reached = []

    def hook(rule, param):
        signal.raise_signal(signal.SIGINT)
        reached.append("first")
        signal.raise_signal(signal.SIGINT)
        reached.append("second")

    model.W.update_rule.add_hook(hook, "hook")
    set_grads(model)
    with pytest.raises(KeyboardInterrupt):
        optimizer.update()
    assert reached == ["first"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_updates_in_other_threads():
    model = Pair()
    optimizer = O.SGD(1.0).setup(model)
    set_grads(model)
    thread = threading.Thread(target=optimizer.update)
    thread.start()
    thread.join()
    assert optimizer.t == 1


def test_gradients_whose_squares_are_too_large_are_clipped():
    for dtype, huge in ((np.float32, 1e30), (np.float64, 1e200)):
        model = chainer.Link()
        with model.init_scope():
            model.p = chainer.Parameter(np.zeros(4, dtype))
        model.p.grad = np.full(4, huge, dtype)
        optimizer = O.SGD().setup(model)
        H.GradientClipping(1.0)(optimizer)
        np.testing.assert_allclose(model.p.grad, 0.5, rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: H.WeightDecay(-0.1), "with a negative rate the parameters grow"),
        (lambda: H.GradientClipping(0), "all gradients become zero"),
    ],
)
def test_settings_that_are_surely_a_mistake(make, text):
    with pytest.warns(MisuseWarning, match=text):
        make()


def test_loss_in_place_of_a_function():
    model = Pair()
    optimizer = O.SGD().setup(model)
    with pytest.raises(TypeError, match=r"got a Variable: call update\(model, x, t\)"):
        optimizer.update(chainer.Variable(np.zeros((), np.float32)))


def test_engine_writes_nothing_about_misuse():
    link = L.Linear(2, 1)
    optimizer = chainer.optimizers.SGD().setup(link)
    attributes = set(vars(link.W))
    for _ in range(2):
        link.cleargrads()
        F.sum(link(np.ones((1, 2), np.float32))).backward()
        optimizer.update()
    assert set(vars(link.W)) == attributes
    gradient = link.W.grad
    assert type(gradient) is np.ndarray and link.W.grad is gradient


def test_gradient_that_the_program_sets_to_zero_in_place():
    link = L.Linear(2, 1)
    optimizer = chainer.optimizers.SGD().setup(link)
    link.cleargrads()
    for _ in range(2):
        F.sum(link(np.ones((1, 2), np.float32))).backward()
        optimizer.update()  # a warning would be an error
        for param in link.params():
            param.grad.fill(0)
