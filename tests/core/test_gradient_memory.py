"""Gradients that several variables would see, or that were broadcast: each gets its own."""

import copy
import gc
import itertools
import pickle
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.core.autograd import delivery
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from tests.core.nodes import Loss, add, exp, f32, var


def peak_of_backward(prepare):
    """Returns the least peak of several runs: threads of other tests may allocate memory, too."""
    peaks = []
    for _ in range(4):
        y = prepare()
        gc.collect()
        tracemalloc.start()
        try:
            y.backward()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)


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

    @pytest.fixture(autouse=True, params=[0, delivery.SMALL_GRADIENT_BYTES])
    def small(self, request, monkeypatch):
        """Shares small arrays, too, which otherwise are copied at once."""
        monkeypatch.setattr(delivery, "SMALL_GRADIENT_BYTES", request.param)
        return request.param

    def added(self, number, shape=(2,)):
        """Returns the gradient the engine made, and the variables that all have it."""
        made = [np.ones(shape, np.float32)]
        xs = [Variable(np.zeros(shape, np.float32)) for _ in range(number)]
        Loss(made).apply((add(*xs),))[0].backward()
        return made[0], xs

    def test_all_but_the_last_read_copies(self):
        made, xs = self.added(4, (2000,))
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
            with pytest.warns(DeprecationWarning, match="zerograd is deprecated"):
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

        def prepared():
            x.cleargrad()
            y.cleargrad()
            z = add(x, y)
            z.grad = np.ones(1 << 20, np.float32)
            return z

        assert 4 << 20 <= peak_of_backward(prepared) < 5 << 20

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

        def prepared():
            x.cleargrad()
            return F.sum(x)

        assert peak_of_backward(prepared) < 1 << 16
        assert x.grad.shape == x.shape
        assert x.grad.all()
        assert x.grad.flags.c_contiguous
        assert x.grad.flags.writeable

    def test_array_with_repeated_elements_that_is_writable(self):
        row = np.ones(2, np.float32)
        made = np.lib.stride_tricks.as_strided(row, (3, 2), (0, 4))
        x = Variable(np.zeros((3, 2), np.float32))
        Loss([made]).apply((x,))[0].backward()
        x.grad[0, 0] = 5
        assert x.grad.tolist() == [[5, 1], [1, 1], [1, 1]]

    def test_order_of_memory_of_what_was_broadcast(self):
        x = Variable(np.zeros((300, 40), np.float32))
        F.sum(F.sum(x, 0) * np.ones(40, np.float32)).backward()
        assert x.grad.flags.c_contiguous

    def test_small_part_does_not_keep_the_rest_alive(self):
        part, rest, both = (Variable(np.zeros(n, np.float32)) for n in (2000, 8000, 10000))
        made = [np.ones(10000, np.float32)]
        Loss(made).apply((add(F.concat([part, rest], 0), both),))[0].backward()
        reference = weakref.ref(made.pop())
        for x in (both, rest, part):
            assert x.grad.all()
        assert reference() is None

    def test_what_is_cleared_leaves(self):
        made, (x, y) = self.added(2, (2000,))
        x.cleargrad()
        assert y.grad is made

    def test_readers_of_one_variable_in_two_threads(self):
        """What one thread goes on with when another was quicker."""
        made, (x, y) = self.added(2, (2000,))
        lazy = x._gradient
        copied = x.grad
        assert copied is not made
        assert lazy.read(x.array) is not made
        assert y.grad is not made
        del lazy
        assert y.grad.all()

    @pytest.mark.parametrize("retain_grad", [False, True])
    def test_gradients_given_to_other_outputs(self, retain_grad):
        x, w, v = (Variable(np.zeros((2, 2), np.float32)) for _ in range(3))
        a, b = F.broadcast(x, add(w, v))
        a.grad = np.ones((2, 2), np.float32)
        given = b.grad = np.full((2, 2), 5, np.float32)
        a.backward(retain_grad=retain_grad)
        given[...] = 9
        assert w.grad.tolist() == v.grad.tolist() == [[5, 5], [5, 5]]

    def test_intermediate_gradients_that_are_retained(self):
        x = Variable(np.zeros((3, 2), np.float32))
        h = [exp(x), exp(x)]
        y = add(*h)
        z = F.sum(y)
        z.backward(retain_grad=True)
        for n, v in enumerate((h[1], y, h[0], x)):
            v.grad *= n + 2
        assert [v.grad[0, 0] for v in (h[1], y, h[0], x)] == [2, 3, 4, 10]
        assert z.grad == 1

    def test_retained_gradients_of_grad(self):
        x = Variable(np.zeros((3, 2), np.float32))
        h = exp(x)
        y = add(h, h)
        given = Variable(np.ones((3, 2), np.float32))
        chainer.grad([y], [x], [given], retain_grad=True)
        h.grad[...] = 7
        assert (given.array == 1).all()

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
