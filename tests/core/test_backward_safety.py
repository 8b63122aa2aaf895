"""Backpropagation: arrays of others stay as they are, wrong rules are named, memory goes."""

import weakref

import numpy as np
import pytest

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from tests.core.nodes import (
    Add,
    Exp,
    Loss,
    add,
    exp,
    f32,
    multiply,
    var,
)


class TestSharing:
    """Rules may hand on the array they were given; variables must not share it."""

    @pytest.mark.parametrize("retain_grad", [False, True])
    def test_leaves_do_not_share(self, retain_grad):
        x, y = var(1, 2), var(3, 4)
        z = add(x, y)
        given = z.grad = f32(1, 1)
        z.backward(retain_grad=retain_grad)
        x.grad += 10
        assert y.grad.tolist() == [1, 1]
        assert given.tolist() == [1, 1]

    def test_views_do_not_share(self):
        class Halves(FunctionNode):
            def forward(self, inputs):
                return (np.concatenate(inputs),)

            def backward_arrays(self, target_input_indexes, grad_outputs):
                g = grad_outputs[0]
                return g[:1], g[:1]

            def backward(self, target_input_indexes, grad_outputs):
                raise AssertionError

        x, y = var(1), var(2)
        z = Halves().apply((x, y))[0]
        given = z.grad = f32(7, 8)
        z.backward()
        x.grad += 1
        assert y.grad.tolist() == [7]
        assert given.tolist() == [7, 8]

    @pytest.mark.parametrize(
        "cuts",
        [
            [np.s_[:2], np.s_[2:5], np.s_[5:]],
            [np.s_[:, 4:], np.s_[:, :1], np.s_[:, 1:4]],
            [np.s_[::2], np.s_[1::2, ::-1]],
            [np.s_[i] for i in range(6)],
            [np.s_[5 - i] for i in range(6)],
        ],
    )
    def test_disjoint_views_of_the_engine_are_handed_out(self, cuts):
        given = np.arange(36, dtype=np.float32).reshape(6, 6)
        gradient, grads = self.cut_up(given, cuts)
        for cut, grad in zip(cuts, grads, strict=True):
            assert np.shares_memory(grad, gradient)
            assert grad.tolist() == given[cut].tolist()

    @pytest.mark.parametrize(
        "cuts",
        [
            [np.s_[:3], np.s_[2:]],
            [np.s_[:, :3], np.s_[:, 2:]],
            [np.s_[::2], np.s_[1::2], np.s_[3]],
            [np.s_[:, 5], np.s_[:, 0], np.s_[2:3]],
            [np.s_[:, i % 12 : i % 12 + 1] for i in range(13)],
        ],
    )
    def test_overlapping_views_are_not_shared(self, cuts):
        given = np.arange(72, dtype=np.float32).reshape(6, 12)
        _, grads = self.cut_up(given, cuts)
        for n, (cut, grad) in enumerate(zip(cuts, grads, strict=True)):
            assert grad.tolist() == given[cut].tolist()
            assert not any(np.shares_memory(grad, other) for other in grads[:n])

    def cut_up(self, given, cuts):
        """Returns an array of the engine, and the gradients of variables which are cuts of it."""
        made = [given.copy()]

        class Cut(FunctionNode):
            def forward(self, inputs):
                return (np.zeros_like(given),)

            def backward_arrays(self, target_input_indexes, grad_outputs):
                return tuple(grad_outputs[0][cut] for cut in cuts)

            def backward(self, target_input_indexes, grad_outputs):
                raise AssertionError

        xs = [Variable(given[cut].copy()) for cut in cuts]
        Loss(made).apply(Cut().apply(xs))[0].backward()
        return made[0], [x.grad for x in xs]

    def test_read_only_gradients_are_copied(self):
        class Broadcast(FunctionNode):
            def forward(self, inputs):
                return (inputs[0].sum(keepdims=True),)

            def backward_arrays(self, target_input_indexes, grad_outputs):
                return (np.broadcast_to(grad_outputs[0], self.inputs[0].shape),)

            def backward(self, target_input_indexes, grad_outputs):
                raise AssertionError

        x = var(1, 2)
        Broadcast().apply((x,))[0].backward()
        x.grad += 1
        assert x.grad.tolist() == [2, 2]

    def test_accumulation_leaves_the_arrays_of_others_alone(self):
        x = var(1, 2)
        y = add(x, x, x)
        gradient = y.grad = f32(1, 1)
        y.backward()
        assert gradient.tolist() == [1, 1]
        assert x.grad.tolist() == [3, 3]

    def test_existing_gradient_is_not_changed_in_place(self):
        x = var(1, 2)
        given = x.grad = f32(5, 5)
        y = add(x, x)
        y.grad = f32(1, 1)
        y.backward()
        assert given.tolist() == [5, 5]
        assert x.grad.tolist() == [7, 7]


class TestWrongRules:
    def check(self, rule, error, match, double=False, arrays=False):
        class Wrong(FunctionNode):
            def forward(self, inputs):
                return (inputs[0] * 2,)

        if arrays:
            Wrong = type("Wrong", (Wrong,), {"backward_arrays": lambda s, t, g: rule(g[0])})
        else:
            Wrong = type("Wrong", (Wrong,), {"backward": lambda s, t, g: rule(g[0])})
        x = var(1, 2)
        y = Wrong().apply((x,))[0]
        y.grad = f32(1, 1)
        with pytest.raises(error, match=match):
            y.backward(enable_double_backprop=double)
        assert x.grad is None

    @pytest.mark.parametrize("double", [False, True])
    def test_dtype(self, double):
        self.check(
            lambda g: (Variable(g.array.astype(np.float64)),),
            TypeError,
            r"(?s)dtype of gradients returned from backward is incorrect: input-index=0, actual "
            r"float64 != expected float32\n  function=Wrong.*"
            r"Dtype of data and grad mismatch\ngrad: float64 != data: float32",
            double,
        )

    def test_dtype_of_arrays(self):
        self.check(
            lambda g: (g.astype(np.float64),),
            TypeError,
            r"(?s)dtype of gradients returned.*Wrong.*Dtype of data and grad mismatch",
            arrays=True,
        )

    @pytest.mark.parametrize("double", [False, True])
    def test_shape(self, double):
        self.check(
            lambda g: (Variable(g.array[None]),),
            ValueError,
            r"(?s)shape of gradients returned from backward is incorrect: input-index=0, actual "
            r"\(1, 2\) != expected \(2,\)\n  function=Wrong.*"
            r"Shape of data and grad mismatch\ngrad: \(1, 2\) != data: \(2,\)",
            double,
        )

    @pytest.mark.parametrize("double", [False, True])
    def test_number(self, double):
        self.check(
            lambda g: (g, g, g),
            ValueError,
            r"number of gradients returned from backward is incorrect: 3 != expected 1\n"
            r"  function=Wrong \(Wrong\)\n    input 0: shape=\(2,\) dtype=float32\n"
            r"    output 0: shape=\(2,\) dtype=float32",
            double,
        )

    def test_not_a_tuple(self):
        self.check(lambda g: g, TypeError, "backward of Wrong .* must return a tuple")

    @pytest.mark.parametrize("error", [TypeError, ValueError])
    @pytest.mark.parametrize("double", [False, True])
    def test_arrays_instead_of_variables(self, error, double):
        self.check(
            lambda g: (g.array,),
            error,
            r"type of gradients returned from backward is incorrect: <class 'numpy.ndarray'> != "
            r"expected .*Variable'>\n  function=Wrong",
            double,
        )

    def test_text_asks_for_a_report(self):
        self.check(lambda g: (Variable(g.array[None]),), ValueError, "please report it")

    def test_text_in_debug_mode_shows_where_the_function_was_applied(self):
        with using_config("debug", True):
            self.check(
                lambda g: (Variable(g.array[None]),),
                ValueError,
                r"(?s)Stacktrace of the function is below:\n.*test_backward_safety\.py.*apply",
            )

    def test_list_is_as_good_as_a_tuple(self):
        class Twice(FunctionNode):
            def forward(self, inputs):
                return (inputs[0] * 2,)

            def backward(self, target_input_indexes, grad_outputs):
                return [grad_outputs[0]]

        x = var(1)
        Twice().apply((x,))[0].backward()
        assert x.grad.tolist() == [1]

    def test_dtype_of_a_gradient_that_a_leaf_has(self):
        x = var(1)
        x.grad_var = var(2)
        x.grad_var.array = np.ones(1)
        with pytest.raises(ValueError, match="dtype of gradients returned from backward is incorr"):
            multiply(x, x).backward()


class TestErrorsInRules:
    def fail(self, error, debug):
        class Fails(FunctionNode):
            def forward(self, inputs):
                return (inputs[0] * 2,)

            def backward(self, target_input_indexes, grad_outputs):
                raise error

        with using_config("debug", debug):
            (y,) = Fails().apply((var(1),))
        with pytest.raises(type(error)) as caught:
            y.backward()
        return caught.value.args

    def test_keep_their_text(self):
        assert self.fail(KeyError("x", 3), False) == ("x", 3)

    def test_tell_where_the_function_was_applied_in_debug_mode(self):
        first, second = self.fail(KeyError("x", 3), True)
        lines = first.splitlines()
        assert lines[0] == "x"
        assert lines[2] == "Stacktrace of the function is below:"
        assert "test_backward_safety.py" in first
        assert ", line " in first
        assert second == 3

    def test_without_arguments(self):
        (text,) = self.fail(ZeroDivisionError(), True)
        assert text.splitlines()[2] == "Stacktrace of the function is below:"


class TestPeakMemory:
    def test_gradients_die_as_backward_passes(self):
        alive = []

        class Watch(Add):
            def backward_arrays(self, target_input_indexes, grad_outputs):
                alive.append(sum(r() is not None for r in references))
                gradient = grad_outputs[0] * 1
                references.append(weakref.ref(gradient))
                return (gradient,)

            def backward(self, target_input_indexes, grad_outputs):
                raise AssertionError

        references = []
        y = var(1)
        for _ in range(10):
            y = Watch().apply((y,))[0]
        y.backward()
        assert max(alive) <= 1

    def test_graph_dies_with_its_end(self):
        x = var(1)
        y = exp(multiply(x, x))
        node = y.creator_node
        assert isinstance(node, Exp)
        reference = weakref.ref(node)
        y.backward()
        del y, node
        assert reference() is None
