"""Backpropagation: arrays of others stay as they are, wrong rules are named, memory goes."""

import copy
import itertools
import pickle
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

from chainer import functions as F
from chainer.core.function_node import FunctionNode
from chainer.core.variable import Variable
from tests.core.nodes import (
    Add,
    Exp,
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
        z.grad = f32(1, 1)
        z.backward(retain_grad=retain_grad)
        x.grad += 10
        assert y.grad.tolist() == [1, 1]
        assert z.grad.tolist() == [1, 1]

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
        z.grad = f32(7, 8)
        z.backward()
        x.grad += 1
        assert y.grad.tolist() == [7]
        assert z.grad.tolist() == [7, 8]

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


class Loss(FunctionNode):
    """Scalar on top of a variable, whose gradient it takes out of a list."""

    def __init__(self, made):
        self.made = made

    def forward(self, inputs):
        return (np.zeros((), np.float32),)

    def backward(self, target_input_indexes, grad_outputs):
        return (Variable(self.made[0]),)


class Spread(FunctionNode):
    """Sum of a row and a matrix; the gradient of the matrix is a view of the row's."""

    def forward(self, inputs):
        return (inputs[0] + inputs[1].sum(0),)

    def backward_arrays(self, target_input_indexes, grad_outputs):
        shapes = [self.inputs[i].shape for i in target_input_indexes]
        return tuple(np.broadcast_to(grad_outputs[0], s)[...] for s in shapes)

    def backward(self, target_input_indexes, grad_outputs):
        raise AssertionError


class TestSharingUntilRead:
    """Gradients that several variables would see are copied when read, and not before."""

    def added(self, number, shape=(2,)):
        """Returns the gradient the engine made, and the variables that all have it."""
        made = [np.ones(shape, np.float32)]
        xs = [Variable(np.zeros(shape, np.float32)) for _ in range(number)]
        Loss(made).apply((add(*xs),))[0].backward()
        return made[0], xs

    def test_all_but_the_last_read_copies(self):
        made, xs = self.added(4)
        for x in (xs[2], xs[0], xs[3]):
            assert not np.shares_memory(x.grad, made)
        assert xs[1].grad is made

    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_changes_in_place_stay_where_they_are_made(self, order):
        _, xs = self.added(3)
        for n in order:
            xs[n].grad += n + 1
        assert [x.grad.tolist() for x in xs] == [[2, 2], [3, 3], [4, 4]]

    def test_reading_again_gives_the_same_array(self):
        _, (x, y) = self.added(2)
        assert x.grad is x.grad
        assert y.grad is y.grad
        assert x.grad_var.array is x.grad

    def test_reading_through_grad_var(self):
        _, (x, y) = self.added(2)
        x.grad_var.array[...] = 5
        assert x.grad.tolist() == [5, 5]
        assert y.grad.tolist() == [1, 1]

    def test_what_was_cleared_unread_harms_nobody(self):
        _, (x, y, z) = self.added(3)
        x.cleargrad()
        y.grad[...] = 7
        assert x.grad is None
        assert z.grad.tolist() == [1, 1]

    def test_unread_gradients_accumulate(self):
        x, y = var(1, 2), var(3, 4)
        for _ in range(3):
            z = add(x, y)
            z.grad = f32(1, 2)
            z.backward()
        assert x.grad.tolist() == y.grad.tolist() == [3, 6]

    @pytest.mark.parametrize("change", ["in place", "zerograd", "addgrad"])
    def test_methods_of_variables(self, change):
        _, (x, y) = self.added(2)
        if change == "in place":
            x.grad *= 3
        elif change == "zerograd":
            x.zerograd()
        else:
            x.addgrad(y)
        assert y.grad.tolist() == [1, 1]
        assert x.grad.tolist() == [{"in place": 3, "zerograd": 0, "addgrad": 2}[change]] * 2
        x.grad[...] = 9
        assert y.grad.tolist() == [1, 1]

    @pytest.mark.parametrize("replicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
    def test_copies_of_variables(self, replicate):
        _, (x, y) = self.added(2)
        replica = replicate(x)
        replica.grad += 1
        x.grad += 2
        assert [v.grad.tolist() for v in (replica, x, y)] == [[2, 2], [3, 3], [1, 1]]

    @pytest.mark.parametrize("retain_grad", [False, True])
    def test_later_changes_of_the_given_gradient(self, retain_grad):
        x, y = var(1, 2), var(3, 4)
        z = add(x, y)
        given = z.grad = f32(1, 1)
        z.backward(retain_grad=retain_grad)
        given[...] = 5
        assert x.grad.tolist() == y.grad.tolist() == [1, 1]

    def test_one_copy_of_the_given_gradient(self):
        x, y = (Variable(np.zeros(1 << 20, np.float32)) for _ in range(2))
        z = add(x, y)
        z.grad = np.ones(1 << 20, np.float32)
        tracemalloc.start()
        z.backward()
        assert 4 << 20 <= tracemalloc.get_traced_memory()[1] < 5 << 20
        tracemalloc.stop()

    def spread(self, made):
        row, matrix = var(1, 2), Variable(np.zeros((3, 2), np.float32))
        y = Spread().apply((row, matrix))[0]
        if made is None:
            return row, matrix, y
        Loss([made]).apply((y,))[0].backward()
        return row, matrix

    @pytest.mark.parametrize("first", [0, 1])
    def test_views_that_were_broadcast(self, first):
        both = self.spread(f32(1, 2))
        both[first].grad[...] = 7
        assert both[first].grad.tolist() == [[7, 7], [[7, 7]] * 3][first]
        assert both[1 - first].grad.tolist() == [[[1, 2]] * 3, [1, 2]][first]
        both[1 - first].grad += 1
        assert both[first].grad.tolist() == [[7, 7], [[7, 7]] * 3][first]

    def test_given_gradient_that_was_broadcast(self):
        row, matrix, y = self.spread(None)
        given = y.grad = f32(1, 2)
        y.backward()
        given[...] = 9
        assert matrix.grad.tolist() == [[1, 2]] * 3
        assert row.grad.tolist() == [1, 2]
        matrix.grad[0] += 1
        assert matrix.grad.tolist() == [[2, 3], [1, 2], [1, 2]]

    def test_what_is_broadcast_takes_no_memory_until_read(self):
        x = Variable(np.zeros(1 << 20, np.float32))
        y = F.sum(x)
        tracemalloc.start()
        y.backward()
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
        tracemalloc.stop()
        assert x.grad.shape == x.shape
        assert x.grad.all()
        assert x.grad.flags.c_contiguous
        assert x.grad.flags.writeable

    def test_readers_in_threads(self):
        for _ in range(20):
            _, xs = self.added(8, (1000,))
            start = threading.Barrier(8)

            def change(x, start=start):
                start.wait()
                x.grad += 1

            threads = [threading.Thread(target=change, args=(x,)) for x in xs]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert all((x.grad == 2).all() for x in xs)


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
            r"Wrong.*Dtype of data and grad mismatch\ngrad: float64 != data: float32",
            double,
        )

    def test_dtype_of_arrays(self):
        self.check(
            lambda g: (g.astype(np.float64),),
            TypeError,
            r"Wrong.*Dtype of data and grad mismatch",
            arrays=True,
        )

    @pytest.mark.parametrize("double", [False, True])
    def test_shape(self, double):
        self.check(
            lambda g: (Variable(g.array[None]),),
            ValueError,
            r"Wrong.*Shape of data and grad mismatch\ngrad: \(1, 2\) != data: \(2,\)",
            double,
        )

    @pytest.mark.parametrize("double", [False, True])
    def test_number(self, double):
        self.check(
            lambda g: (g, g, g),
            ValueError,
            r"number of gradients returned by Wrong \(Wrong\) is incorrect: 3 != expected 1",
            double,
        )

    def test_not_a_tuple(self):
        self.check(lambda g: g, TypeError, "backward of Wrong .* must return a tuple")

    def test_arrays_instead_of_variables(self):
        self.check(lambda g: (g.array,), TypeError, "must return Variables .* got .*ndarray")


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
