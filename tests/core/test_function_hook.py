import threading

import pytest

import chainer
from chainer import functions as F
from chainer.core.autograd.function_hook import FunctionHook, get_function_hooks
from chainer.core.autograd.function_node import FunctionNode
from tests.core.nodes import (
    Multiply,
    MultiplyArrays,
    OldMultiply,
    Recorder,
    exp,
    f32,
    multiply,
    var,
)

NODES = pytest.mark.parametrize("node", [Multiply, MultiplyArrays])


class TestThreadLocalHooks:
    def test_order_of_calls(self):
        x = var(3)
        with Recorder() as hook:
            y = multiply(x, x)
        assert hook.events == [
            ("added", None),
            ("forward_preprocess", "Multiply"),
            ("forward_postprocess", "Multiply"),
            ("deleted", None),
        ]
        assert y.array.tolist() == [9]

    @NODES
    def test_backward(self, node):
        x = var(3)
        y = multiply(x, x, node)
        with Recorder() as hook:
            y.backward()
        assert x.grad.tolist() == [6]
        calls = [c for c in hook.calls if c[0].startswith("backward") and c[1] == node.__name__]
        assert [call[0] for call in calls] == ["backward_preprocess", "backward_postprocess"]
        _, _, in_data, out_grad = calls[0]
        assert [a.tolist() for a in in_data] == [[3], [3]]
        assert [g.tolist() for g in out_grad] == [[1]]

    def test_in_data_of_what_is_not_retained(self):
        x = var(0)
        y = exp(x)
        with Recorder() as hook:
            y.backward()
        assert hook.calls[1][2] == (None,)

    def test_gradients_are_the_same_with_hooks(self):
        x = var(2)
        with Recorder():
            z = multiply(multiply(x, x), x)
            z.backward(retain_grad=True, enable_double_backprop=True)
        assert x.grad.tolist() == [12]
        assert x.grad_var.creator is not None

    def test_without_backprop(self):
        with Recorder() as hook, chainer.no_backprop_mode():
            multiply(var(1), var(2))
        assert ("forward_preprocess", "Multiply") in hook.events

    def test_other_threads_are_not_seen(self):
        with Recorder() as hook:
            thread = threading.Thread(target=lambda: multiply(var(1), var(2)))
            thread.start()
            thread.join()
        assert hook.events == [("added", None), ("deleted", None)]

    def test_registry(self):
        assert get_function_hooks() == {}
        with Recorder() as hook:
            assert get_function_hooks() == {"Recorder": hook}
            assert chainer.thread_local.function_hooks is get_function_hooks()
        assert get_function_hooks() == {}

    def test_one_name_twice(self):
        match = "hook Recorder already exists"
        with Recorder(), pytest.raises(KeyError, match=match), Recorder():
            pass
        assert get_function_hooks() == {}

    def test_two_hooks_in_order_of_entry(self):
        order = []

        class First(FunctionHook):
            name = "First"

            def forward_preprocess(self, function, in_data):
                order.append(self.name)

        class Second(First):
            name = "Second"

        with First(), Second():
            multiply(var(1), var(2))
        assert order == ["First", "Second"]

    def test_taken_away_after_an_error(self):
        with pytest.raises(ZeroDivisionError), Recorder():
            raise ZeroDivisionError
        assert get_function_hooks() == {}

    def test_sees_old_style_functions(self):
        with Recorder() as hook:
            OldMultiply()(var(2), var(3)).backward()
        assert [event for event, label in hook.events if label == "OldMultiply"] == [
            "forward_preprocess",
            "forward_postprocess",
            "backward_preprocess",
            "backward_postprocess",
        ]


class TestLocalHooks:
    @NODES
    def test_one_function_only(self, node):
        x = var(3)
        hook = Recorder()
        observed = node()
        observed.add_hook(hook)
        assert hook.calls == [("added", observed)]
        (y,) = observed.apply((x, x))
        z = multiply(y, x, node)
        z.backward()
        assert hook.events == [
            ("added", observed),
            ("forward_preprocess", node.__name__),
            ("forward_postprocess", node.__name__),
            ("backward_preprocess", node.__name__),
            ("backward_postprocess", node.__name__),
        ]
        assert x.grad.tolist() == [27]

    def test_delete(self):
        node, hook = Multiply(), Recorder()
        node.add_hook(hook)
        assert list(node.local_function_hooks) == ["Recorder"]
        node.delete_hook("Recorder")
        assert list(node.local_function_hooks) == []
        assert hook.calls[-1] == ("deleted", node)

    def test_names(self):
        node = Multiply()
        node.add_hook(Recorder(), "one")
        node.add_hook(Recorder(), name="two")
        assert list(node.local_function_hooks) == ["one", "two"]
        with pytest.raises(KeyError, match="hook one already exists"):
            node.add_hook(Recorder(), "one")

    def test_errors(self):
        with pytest.raises(TypeError, match="hook must be of type FunctionHook, got int"):
            Multiply().add_hook(3)
        with pytest.raises(KeyError, match="hook x does not exist"):
            Multiply().delete_hook("x")

    def test_on_old_style_functions(self):
        function, hook = OldMultiply(), Recorder()
        function.add_hook(hook)
        assert list(function.local_function_hooks) == ["Recorder"]
        function(var(2), var(3))
        assert ("forward_preprocess", "OldMultiply") in hook.events
        function.delete_hook("Recorder")
        assert list(function.local_function_hooks) == []

    def test_both_kinds(self):
        local, everywhere = Recorder(), Recorder()
        node = Multiply()
        node.add_hook(local, "local")
        with everywhere:
            node.apply((f32(1), f32(2)))
        assert ("forward_preprocess", "Multiply") in local.events
        assert ("forward_preprocess", "Multiply") in everywhere.events

    def test_replaces_a_hook_of_the_thread_that_has_the_same_name(self):
        local, everywhere = Recorder(), Recorder()
        node = Multiply()
        node.add_hook(local)
        x = var(3)
        with everywhere:
            (y,) = node.apply((x, x))
            y.backward()
        assert [event for event, _ in local.events] == [
            "added",
            "forward_preprocess",
            "forward_postprocess",
            "backward_preprocess",
            "backward_postprocess",
        ]
        # What the hook of the thread sees are the functions that compute the gradient.
        assert "backward_preprocess" not in [event for event, _ in everywhere.events]


class TestFunctionsRunInsideBackward:
    """Hooks of the thread see the functions that the computation of gradients applies."""

    def events(self, run):
        x = chainer.Variable(f32(1, 2))
        y = F.sum(x * x)
        with Recorder() as hook:
            run(y, x)
        return [f"{event} {label}" for event, label in hook.events if event[:2] in ("fo", "ba")]

    # As observed in release 7.8.1 (4.3.1 adds after the last backward_postprocess).
    EXPECTED = (
        "backward_preprocess Sum",
        "forward_preprocess BroadcastTo",
        "forward_postprocess BroadcastTo",
        "backward_postprocess Sum",
        "backward_preprocess _ * _",
        "forward_preprocess _ * _",
        "forward_postprocess _ * _",
        "forward_preprocess _ * _",
        "forward_postprocess _ * _",
        "forward_preprocess _ + _",
        "forward_postprocess _ + _",
        "backward_postprocess _ * _",
    )

    @pytest.mark.parametrize("double", [False, True])
    def test_backward(self, double):
        events = self.events(lambda y, x: y.backward(enable_double_backprop=double))
        assert tuple(events) == self.EXPECTED

    @pytest.mark.parametrize("double", [False, True])
    def test_grad(self, double):
        events = self.events(lambda y, x: chainer.grad([y], [x], enable_double_backprop=double))
        assert tuple(events) == self.EXPECTED

    def test_timer_counts_the_functions_of_the_gradient(self):
        x, y = chainer.Variable(f32(1, 2)), chainer.Variable(f32(3, 4))
        z = x * y
        z.grad = f32(1, 1)
        with chainer.function_hooks.TimerHook() as timer:
            z.backward()
        assert [name for name, _ in timer.call_history] == ["Mul", "Mul", "Mul"]

    def test_gradients_are_arrays_of_the_leaves(self):
        x = chainer.Variable(f32(1, 2))
        x.grad = f32(10, 10)
        y = F.sum(x * x)
        with Recorder():
            y.backward()
        assert x.grad.tolist() == [12, 14]
        assert x.grad_var.creator is None

    def test_hook_of_one_function_does_not_see_them(self):
        x = chainer.Variable(f32(1, 2))
        y = F.sum(x * x)
        hook = Recorder()
        y.creator_node.add_hook(hook)
        y.backward()
        assert [event for event, _ in hook.events] == [
            "added",
            "backward_preprocess",
            "backward_postprocess",
        ]

    def test_old_style_functions(self):
        x = chainer.Variable(f32(3))
        y = OldMultiply()(x, x)
        with Recorder() as hook:
            y.backward()
        assert [f"{event} {label}" for event, label in hook.events[1:-1]] == [
            "backward_preprocess OldMultiply",
            "forward_preprocess _ + _",
            "forward_postprocess _ + _",
            "backward_postprocess OldMultiply",
        ]

    def test_function_with_a_rule_on_arrays_only(self):
        class Twice(FunctionNode):
            def forward(self, inputs):
                return (inputs[0] * 2,)

            def backward_arrays(self, target_input_indexes, grad_outputs):
                return (grad_outputs[0] * 2,)

        x = chainer.Variable(f32(3))
        (y,) = Twice().apply((x,))
        with Recorder():
            y.backward()
        assert x.grad.tolist() == [2]
        with pytest.raises(RuntimeError, match=r"Twice defines backward_arrays\(\), but not"):
            y.backward(enable_double_backprop=True)


class _NoText:
    def __repr__(self):
        raise ValueError("no text")


class _HookOfArguments(chainer.FunctionHook):
    def __init__(self, first, second=2):
        self.first = first

    @property
    def second(self):
        raise RuntimeError("not yet")


def test_a_text_does_not_fail():
    hook = _HookOfArguments(_NoText())
    assert repr(hook) == "_HookOfArguments(first=<_NoText>)"
    hook.first = hook  # a text of itself
    assert repr(hook).startswith("_HookOfArguments(first=_HookOfArguments(")
