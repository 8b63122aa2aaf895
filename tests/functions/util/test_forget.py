"""Recalculation instead of storing."""

import weakref

import numpy as np
import pytest

import chainer
import chainer.functions as F


def test_parameters_of_the_function_get_gradients():
    w = chainer.Parameter(np.array([2.0, 3.0], "f"))
    x = chainer.Variable(np.array([1.0, 4.0], "f"))
    w.grad = np.zeros_like(w.array)
    y = F.forget(lambda a: a * w, x)
    y.grad = np.array([1.0, 10.0], "f")
    y.backward()
    np.testing.assert_array_equal(x.grad, [2, 30])
    np.testing.assert_array_equal(w.grad, [1, 40])


def test_intermediate_results_are_gone():
    kept = []

    def function(x):
        h = x * 2
        kept.append(weakref.ref(h.array))
        return h + 1

    y = F.forget(function, chainer.Variable(np.ones(3, "f")))
    assert kept[0]() is None
    y.grad = np.ones(3, "f")
    y.backward()
    assert len(kept) == 2


def test_several_outputs_one_of_them_unused():
    x = chainer.Variable(np.array([3.0], "f"))
    _, square = F.forget(lambda a: (a * 5, a * a), x)
    square.backward()
    np.testing.assert_array_equal(x.grad, [6])


def test_arrays_become_part_of_the_graph():
    y = F.forget(lambda a: a * 2, np.ones(3, "f"))
    assert y.creator.label == "Forget"
    assert y.requires_grad


def test_no_gradients_of_gradients():
    x = chainer.Variable(np.ones(3, "f"))
    y = F.forget(lambda a: a * a, x)
    with pytest.raises(RuntimeError, match=r"double backpropagation in functions\.forget"):
        chainer.grad([y], [x], enable_double_backprop=True)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (3, TypeError, "func must be callable"),
        (lambda a: a.array, RuntimeError, "A tuple of Variables or a Variable are expected"),
        (lambda a: (a, a.array), RuntimeError, "2nd element of a returned tuple is not Variable"),
        (lambda a: [a], RuntimeError, "list'> is returned"),
    ],
)
def test_refusals(function, error, message):
    with pytest.raises(error, match=message):
        F.forget(function, chainer.Variable(np.ones(3, "f")))


def test_argument_that_is_no_array():
    with pytest.raises(TypeError, match="numpy.ndarray or cuda.ndarray are expected"):
        F.forget(lambda a: a, 3)
