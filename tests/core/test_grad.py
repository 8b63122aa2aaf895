import numpy as np
import pytest

import chainer
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from tests.core.nodes import (
    Multiply,
    MultiplyArrays,
    NotDifferentiable,
    Split,
    add,
    exp,
    f32,
    multiply,
    var,
)

NODES = pytest.mark.parametrize("node", [Multiply, MultiplyArrays])


@NODES
def test_gradients_are_returned_not_stored(node):
    x = var(1, 2)
    y = multiply(x, x, node)
    (gx,) = chainer.grad([y], [x])
    assert isinstance(gx, Variable)
    assert gx.array.tolist() == [2, 4]
    assert x.grad is None
    assert y.grad is None


def test_only_the_paths_between_are_visited():
    visited = []

    class Watch(Multiply):
        def backward(self, target_input_indexes, grad_outputs):
            visited.append((self, target_input_indexes))
            return super().backward(target_input_indexes, grad_outputs)

    x, w = var(2), var(3)
    first = Watch()
    (h,) = first.apply((w, w))
    (y,) = Watch().apply((h, x))
    assert [g.array.tolist() for g in chainer.grad([y], [x])] == [[9]]
    assert [targets for _, targets in visited] == [(1,)]
    assert first not in [node for node, _ in visited]


def test_unrelated_input():
    x, z = var(1), var(1)
    with pytest.warns(chainer.MisuseWarning, match=r"all gradients are None.*inputs\[0\]"):
        assert chainer.grad([multiply(x, x)], [z]) == [None]
    # Programs pass all parameters, of which some are not used.
    assert chainer.grad([multiply(x, x)], [x, z])[1] is None


def test_output_as_input():
    x = var(1, 2)
    y = multiply(x, x)
    gy, gx = chainer.grad([y], [y, x])
    assert gy.array.tolist() == [1, 1]
    assert gx.array.tolist() == [2, 4]
    (same,) = chainer.grad([x], [x])
    assert same.array.tolist() == [1, 1]


@NODES
def test_intermediate_inputs(node):
    x = var(1, 2)
    y = multiply(x, x, node)
    z = multiply(y, x, node)
    gx, gy = chainer.grad([z], [x, y])
    assert gx.array.tolist() == [3, 12]
    assert gy.array.tolist() == [1, 2]


def test_gradient_of_an_intermediate_is_complete_when_it_is_passed_on():
    x = var(2)
    y = multiply(x, x)
    z = multiply(y, y)
    w = add(multiply(y, z), z)  # x^6 + x^4
    gx, gy, gz = chainer.grad([w], [x, y, z])
    assert gz.array.tolist() == [4 + 1]
    assert gy.array.tolist() == [3 * 16 + 2 * 4]
    assert gx.array.tolist() == [6 * 32 + 4 * 8]


def test_grad_outputs():
    x = var(1, 2)
    y = multiply(x, x)
    z = multiply(y, x)
    (gx,) = chainer.grad([y, z], [x], [var(10, 10), None])
    assert gx.array.tolist() == [20 + 3, 40 + 12]
    (gx,) = chainer.grad([y], [x], [f32(10, 10)])  # arrays wherever a Variable is taken
    assert gx.array.tolist() == [20, 40]


def test_grad_outputs_are_left_alone():
    x = var(1, 2)
    g = var(1, 1)
    chainer.grad([add(x, x)], [x], [g])
    assert g.array.tolist() == [1, 1]


def test_one_output_twice():
    """The gradients add up. In releases 4 to 7 the last one counts, which loses the others."""
    x = var(1)
    y = multiply(x, x)
    (gx,) = chainer.grad([y, y], [x], [var(1), var(5)])
    assert gx.array.tolist() == [12]
    (gx,) = chainer.grad([y, y], [x])
    assert gx.array.tolist() == [4]


def test_one_input_twice():
    x = var(1)
    first, second = chainer.grad([multiply(x, x)], [x, x])
    assert first.array.tolist() == second.array.tolist() == [2]


def test_grad_inputs_are_added_not_in_place():
    x, z = var(1, 2), var(1, 2)
    initial, other = var(100, 100), var(7, 7)
    gx, gz = chainer.grad([multiply(x, x)], [x, z], grad_inputs=[initial, other])
    assert gx.array.tolist() == [102, 104]
    assert gz.array.tolist() == [7, 7]
    assert initial.array.tolist() == [100, 100]


@pytest.mark.parametrize("create_graph", [False, True])
def test_grad_inputs_flow_on(create_graph):
    """They reach the inputs from which another input was computed, as in releases 4 to 7."""
    x = var(1)
    y = multiply(x, var(2))
    z = multiply(y, var(2))
    gradients = chainer.grad(
        [z], [x, y], grad_inputs=[var(1000), var(100)], enable_double_backprop=create_graph
    )
    assert [g.array.tolist() for g in gradients] == [[1204], [102]]


def test_grad_inputs_replace_the_gradient_of_an_output():
    x = var(3)
    y = multiply(x, x)
    initial = var(5)
    gx, gy = chainer.grad([y], [x, y], [var(1)], grad_inputs=[None, initial])
    assert gy is initial
    assert gx.array.tolist() == [30]


def test_grad_inputs_of_an_input_that_is_not_reached():
    x = var(1)
    y = multiply(x, x)
    z = multiply(y, x)
    gx, gz = chainer.grad([y], [x, z], grad_inputs=[None, var(100)])
    assert gx.array.tolist() == [2]
    assert gz.array.tolist() == [100]


def test_retained_gradients():
    x = var(3)
    y = multiply(x, x)
    z = multiply(y, x)
    seed = var(2)
    (gx,) = chainer.grad([z], [x], [seed], retain_grad=True)
    assert z.grad_var is seed
    assert y.grad.tolist() == [6]
    assert x.grad_var is gx


def test_set_grad_clears_where_there_is_no_gradient():
    x, other = var(1), var(1)
    other.grad = f32(5)
    chainer.grad([multiply(x, x)], [x, other], set_grad=True)
    assert other.grad is None


def test_grad_inputs_take_part_in_the_graph():
    x, initial = var(3), var(5)
    total = multiply(initial, initial)
    (gx,) = chainer.grad([multiply(x, x)], [x], grad_inputs=[total], enable_double_backprop=True)
    assert gx.array.tolist() == [6 + 25]
    (gi,) = chainer.grad([gx], [initial])
    assert gi.array.tolist() == [10]


@NODES
def test_set_grad(node):
    x = var(1, 2)
    x.grad = f32(50, 50)
    y = multiply(x, x, node)
    z = multiply(y, x, node)
    (gx,) = chainer.grad([z], [x], set_grad=True)
    assert x.grad_var is gx
    assert y.grad is None
    assert z.grad is None


@NODES
def test_retain_grad(node):
    x = var(1, 2)
    y = multiply(x, x, node)
    z = multiply(y, x, node)
    (gx,) = chainer.grad([z], [x], retain_grad=True)
    assert gx.array.tolist() == [3, 12]
    assert y.grad.tolist() == [1, 2]
    assert x.grad.tolist() == [3, 12]


def test_loss_scale():
    x = var(1, 2)
    (gx,) = chainer.grad([multiply(x, x)], [x], loss_scale=10.0)
    assert gx.array.tolist() == [20, 40]
    assert x.loss_scale == 10


@NODES
@pytest.mark.parametrize("lazy", [False, True])
def test_higher_orders(node, lazy):
    x = var(2)
    y = multiply(multiply(x, x, node), x, node)
    with using_config("lazy_grad_sum", lazy):
        orders = []
        for _ in range(3):
            (y,) = chainer.grad([y], [x], enable_double_backprop=True)
            orders.append(y.array.tolist())
    assert orders == [[12], [12], [6]]
    with pytest.warns(chainer.MisuseWarning, match="all gradients are None"):
        assert chainer.grad([y], [x]) == [None]


def test_mixed_derivatives():
    x, w = var(2), var(3)
    y = multiply(multiply(x, x), multiply(w, w))  # x^2 w^2
    (gx,) = chainer.grad([y], [x], enable_double_backprop=True)
    gxw, gxx = chainer.grad([gx], [w, x])
    assert gxw.array.tolist() == [4 * 2 * 3]
    assert gxx.array.tolist() == [2 * 9]


def test_without_double_backprop_there_is_no_graph():
    x = var(2)
    (gx,) = chainer.grad([multiply(x, x)], [x])
    assert gx.creator is None


def test_gradients_of_dead_outputs():
    x = var(0, 1)
    y = add(exp(x), multiply(x, x))
    (gx,) = chainer.grad([y], [x], enable_double_backprop=True)
    (ggx,) = chainer.grad([gx], [x])
    np.testing.assert_allclose(ggx.array, np.exp([0, 1]) + 2, rtol=1e-6)


def test_multiple_outputs_of_one_function():
    x = var(1)
    node = Split()
    y, z = node.apply((x,))
    (gx,) = chainer.grad([z], [x])
    assert gx.array.tolist() == [3]
    assert node.seen == (None, [1])
    (gx,) = chainer.grad([y, z], [x])
    assert gx.array.tolist() == [5]


def test_gradient_given_to_another_output_does_not_count():
    x = var(1)
    node = Split()
    y, z = node.apply((x,))
    z.grad = f32(5)
    chainer.grad([y], [x])
    assert node.seen == ([1], None)
    assert z.grad.tolist() == [5]


@pytest.mark.filterwarnings("ignore:.*defines neither backward:chainer.MisuseWarning")
def test_not_differentiable():
    x = var(1)
    (y,) = NotDifferentiable().apply((x,))
    with pytest.warns(chainer.MisuseWarning, match="all gradients are None"):
        assert chainer.grad([y], [x]) == [None]


def test_input_that_requires_no_gradient():
    """It gets gradients of the functions that are visited, as in releases 4 to 7."""
    x = Variable(f32(1), requires_grad=False)
    y = multiply(x, var(2))
    (gx,) = chainer.grad([y], [x])
    assert gx.array.tolist() == [2]


def test_no_function_is_visited_for_an_input_that_requires_no_gradient():
    x = Variable(f32(1), requires_grad=False)
    with pytest.warns(chainer.MisuseWarning, match="all gradients are None"):
        assert chainer.grad([multiply(multiply(x, x), var(1))], [x]) == [None]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (lambda x, y: (y, [x]), TypeError, r"outputs must be a tuple or a list, not <class"),
        (lambda x, y: ([y], x), TypeError, r"inputs must be a tuple or a list, not <class"),
        (lambda x, y: ([y], [x], var(1)), TypeError, "grad_outputs must be a tuple or a list"),
        (
            lambda x, y: ([y], [x], None, var(1)),
            TypeError,
            "grad_inputs must be a tuple or a list",
        ),
        (lambda x, y: ([y.array], [x]), TypeError, "outputs must contain Variables"),
        (lambda x, y: ([y], [x.array]), TypeError, "inputs must contain Variables"),
        (lambda x, y: ([y], [x], [None, None]), ValueError, "2 elements, expected 1"),
        (lambda x, y: ([y], [x], None, []), ValueError, "0 elements, expected 1"),
        (
            lambda x, y: ([y], [x], [var(1, 2)]),
            ValueError,
            r"grad_outputs\[0\]: Shape of data and grad mismatch",
        ),
        (
            lambda x, y: ([y], [x], None, [Variable(np.ones(1))]),
            TypeError,
            r"grad_inputs\[0\]: Dtype of data and grad mismatch",
        ),
        (lambda x, y: ([y], [x], ["a"]), TypeError, "are expected"),
    ],
)
def test_bad_arguments(arguments, error, match):
    x = var(1)
    y = multiply(x, x)
    with pytest.raises(error, match=match):
        chainer.grad(*arguments(x, y))
