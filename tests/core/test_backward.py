import gc
import threading
import warnings
import weakref

import numpy as np
import pytest

import chainer
from chainer import MisuseWarning
from chainer import functions as F
from chainer.core.autograd.function import force_backprop_mode, no_backprop_mode
from chainer.core.autograd.function_node import FunctionNode
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


class TestGradients:
    @NODES
    def test_product(self, node):
        x, y = var(1, 2), var(3, 4)
        z = multiply(x, y, node)
        z.grad = f32(10, 100)
        z.backward()
        assert x.grad.tolist() == [30, 400]
        assert y.grad.tolist() == [10, 200]

    @NODES
    def test_same_variable_twice(self, node):
        x = var(3)
        multiply(x, x, node).backward()
        assert x.grad.tolist() == [6]

    @NODES
    def test_branches_are_summed(self, node):
        x = var(2)
        y = multiply(x, x, node)
        z = multiply(y, multiply(x, y, node), node)  # x ** 5
        z.backward()
        assert x.grad.tolist() == [80]

    def test_order_of_visits_follows_ranks(self):
        # Long and short paths to the same node: it must be visited after both have arrived.
        x = var(1)
        y = add(x, x)
        long = y
        for _ in range(5):
            long = add(long, x)
        z = add(y, long)
        z.backward()
        assert x.grad.tolist() == [2 + 2 + 5]

    @NODES
    def test_inputs_without_gradient(self, node):
        x, y = Variable(f32(2), requires_grad=False), var(3)
        z = multiply(x, y, node)
        assert z.requires_grad
        z.backward()
        assert x.grad is None
        assert y.grad.tolist() == [2]

    def test_raw_arrays_as_inputs(self):
        x = var(2)
        y = multiply(x, f32(5))
        y.backward()
        assert x.grad.tolist() == [5]

    def test_constants_only(self):
        x = Variable(f32(2), requires_grad=False)
        y = multiply(x, x)
        assert not y.requires_grad
        with pytest.warns(MisuseWarning, match="has no effect"):
            y.backward()
        assert x.grad is None

    def test_retained_output(self):
        x = var(0)
        exp(exp(x)).backward()
        np.testing.assert_allclose(x.grad, [np.e], rtol=1e-6)

    def test_zero_dimensional(self):
        x = Variable(np.array(3, np.float32))
        y = multiply(x, x)
        assert y.shape == ()
        y.backward()
        assert type(x.grad) is np.ndarray
        assert x.grad.shape == ()
        assert x.grad == 6

    def test_accumulates_over_calls(self):
        x = var(2)
        y = multiply(x, x)
        y.backward()
        y.backward()
        assert x.grad.tolist() == [8]

    def test_very_deep_graph(self):
        x = y = var(1)
        for _ in range(20000):
            y = add(y, x)
        y.backward()
        assert x.grad.tolist() == [20001]

    @pytest.mark.filterwarnings("ignore:.*defines neither backward:chainer.MisuseWarning")
    def test_none_stops_there(self):
        x = var(2)
        y = NotDifferentiable().apply((multiply(x, x),))[0]
        y.backward()
        assert x.grad is None

    def test_some_nones(self):
        class First(FunctionNode):
            def forward(self, inputs):
                return (inputs[0] * inputs[1],)

            def backward(self, target_input_indexes, grad_outputs):
                return grad_outputs[0], None

        x, y = var(2), var(3)
        First().apply((x, y))[0].backward()
        assert x.grad.tolist() == [1]
        assert y.grad is None


class TestInitialGradient:
    def test_one_element(self):
        x = var(3)
        y = multiply(x, x)
        y.backward(retain_grad=True)
        assert y.grad.tolist() == [1]
        assert x.grad.tolist() == [6]

    def test_several_elements_without_gradient(self):
        x = var(1, 2)
        with pytest.raises(ValueError, match=r"shape \(2,\) needs an initial gradient"):
            F.square(x).backward()
        with pytest.raises(TypeError, match=r"shape \(2,\) needs an initial gradient"):
            F.square(x).backward()
        assert x.grad is None

    @pytest.mark.parametrize("double", [False, True])
    @pytest.mark.parametrize("debug", [False, True])
    def test_functions_of_users_may_do_without_gradient(self, double, debug):
        # As in releases 4 and 7.
        class Known(FunctionNode):
            def forward(self, inputs):
                return inputs[0] * 2, inputs[0] * 3

            def backward(self, target_input_indexes, grad_outputs):
                assert grad_outputs == (None, None)
                return (var(7, 8),)

        x = var(1, 2)
        with using_config("debug", debug):
            y = Known().apply((multiply(x, x),))[0]
            y.backward(enable_double_backprop=double)
        assert x.grad.tolist() == [14, 32]
        assert y.grad is None

    def test_one_element_that_is_not_a_scalar_gives_a_warning(self):
        for shape in ((1,), (1, 1)):
            x = Variable(np.ones(shape, np.float32))
            with pytest.warns(
                DeprecationWarning, match="Treating a variable with only one element"
            ):
                multiply(x, x).backward()
            assert x.grad.tolist() == np.full(shape, 2).tolist()
            with pytest.warns(
                DeprecationWarning, match="Treating a variable with only one element"
            ):
                Variable(np.ones(shape, np.float32)).backward()

    def test_no_warning_of_scalars_and_given_gradients(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            x = Variable(np.array(2, np.float32))
            multiply(x, x).backward()
            y = multiply(var(1), var(2))
            y.grad = f32(1)
            y.backward()

    def test_leaf(self):
        x = var(1, 2)
        assert x.backward() is None
        assert x.grad is None

    def test_leaf_of_one_element(self):
        x = var(3)
        x.backward()
        assert x.grad.tolist() == [1]

    def test_leaf_keeps_its_gradient(self):
        x = var(3)
        x.grad = f32(5)
        x.backward()
        assert x.grad.tolist() == [5]

    def test_gradient_of_the_root_is_dropped(self):
        x = var(1, 2)
        y = multiply(x, x)
        gradient = y.grad = f32(1, 1)
        y.backward()
        assert y.grad is None
        assert y.grad_var is None
        assert gradient.tolist() == [1, 1]

    def test_gradient_of_the_root_is_dropped_if_a_rule_fails(self):
        class Fails(Multiply):
            def backward(self, target_input_indexes, grad_outputs):
                raise KeyError("x")

        x = var(2)
        y = multiply(x, x, Fails)
        with pytest.raises(KeyError):
            y.backward()
        assert y.grad is None

    @NODES
    @pytest.mark.parametrize("double", [False, True])
    def test_gradient_of_the_root_is_retained(self, node, double):
        x = var(1, 2)
        y = multiply(x, x, node)
        gradient = y.grad = f32(1, 1)
        y.backward(retain_grad=True, enable_double_backprop=double)
        assert y.grad is gradient
        assert gradient.tolist() == [1, 1]


class TestMultipleOutputs:
    def test_both(self):
        x = var(1)
        y, z = Split().apply((x,))
        add(y, z).backward()
        assert x.grad.tolist() == [5]

    def test_one_is_unused(self):
        x = var(1)
        node = Split()
        y, z = node.apply((x,))
        z.backward()
        assert node.seen == (None, [1])
        assert x.grad.tolist() == [3]
        assert y.grad is None

    def test_one_is_dead(self):
        x = var(1)
        node = Split()
        z = node.apply((x,))[1]
        gc.collect()
        z.backward()
        assert node.seen == (None, [1])

    @pytest.mark.parametrize("retain_grad", [False, True])
    def test_gradient_given_to_the_other_output_counts(self, retain_grad):
        # As in releases 4.3.1 and 7.8.1.
        x = var(1)
        node = Split()
        y, z = node.apply((x,))
        y.grad, z.grad = f32(1), f32(5)
        y.backward(retain_grad=retain_grad)
        assert node.seen == ([1], [5])
        assert x.grad.tolist() == [2 + 15]

    def test_both_used_at_different_depths(self):
        x = var(1)
        y, z = Split().apply((x,))
        add(multiply(y, y), z).backward()
        assert x.grad.tolist() == [8 + 3]


class TestUnchainedOutput:
    """An output that is unchained is a leaf, also for the function that has computed it."""

    @pytest.mark.parametrize("create_graph", [False, True])
    @pytest.mark.parametrize("is_late", [False, True])
    def test_gets_a_gradient_that_does_not_flow_on(self, is_late, create_graph):
        x = var(1)
        y, z = Split().apply((x,))
        if not is_late:
            y.unchain()
        total = add(y, z)
        if is_late:
            y.unchain()
        total.backward(enable_double_backprop=create_graph)
        assert x.grad.tolist() == [3]
        assert y.grad.tolist() == [1]

    def test_keeps_the_gradient_that_was_set(self):
        x = var(1)
        y, z = Split().apply((x,))
        y.grad = f32(5)
        y.unchain()
        z.backward()
        assert x.grad.tolist() == [3]
        assert y.grad.tolist() == [5]

    def test_adds_to_the_gradient_that_was_set(self):
        x = var(1)
        y, z = Split().apply((x,))
        total = add(y, z)
        y.unchain()
        y.grad = f32(5)
        total.backward(retain_grad=True)
        assert y.grad.tolist() == [6]
        assert z.grad.tolist() == [1]

    def test_in_grad(self):
        x = var(1)
        y, z = Split().apply((x,))
        total = add(y, z)
        y.unchain()
        (gx,) = chainer.grad([total], [x])
        assert gx.array.tolist() == [3]


class TestIntermediateGradients:
    @NODES
    def test_set_by_the_user_are_neither_used_nor_changed(self, node):
        """As in 7.8.1; release 4 erased them."""
        x = var(2)
        y = multiply(x, x, node)
        y.grad = f32(100)
        given = y.grad_var
        z = multiply(y, x, node)
        for n in (1, 2):
            z.backward()
            assert y.grad_var is given
            assert y.grad.tolist() == [100]
            assert z.grad_var is None
            assert x.grad.tolist() == [12 * n]

    def test_root_keeps_the_object_that_is_its_gradient(self):
        x = var(2)
        y = multiply(x, x)
        given = y.grad_var = var(1)
        y.backward(retain_grad=True)
        assert y.grad_var is given

    @pytest.mark.parametrize("retain", [False, True])
    def test_are_used_up_where_no_input_requires_one(self, retain):
        x = chainer.Variable(f32(2), requires_grad=False)
        y, z = Split().apply((x,))
        y.grad, z.grad = f32(1), f32(1)
        y.backward(retain_grad=retain)
        assert y.grad is None
        assert z.grad is None

    @NODES
    def test_are_retained(self, node):
        x = var(2)
        y = multiply(x, x, node)
        z = multiply(y, x, node)
        z.backward(retain_grad=True)
        assert y.grad.tolist() == [2]
        assert x.grad.tolist() == [12]
        assert z.grad.tolist() == [1]

    def test_retained_ones_are_replaced(self):
        x = var(2)
        y = multiply(x, x)
        z = multiply(y, x)
        z.backward(retain_grad=True)
        z.backward(retain_grad=True)
        assert y.grad.tolist() == [2]
        assert x.grad.tolist() == [24]


class TestDoubleBackprop:
    @NODES
    def test_orders(self, node):
        x = var(2)
        x3 = multiply(multiply(x, x, node), x, node)
        x3.backward(enable_double_backprop=True)
        for expected in (12, 12, 6):
            g = x.grad_var
            assert g.array.tolist() == [expected]
            assert g.creator is not None
            x.cleargrad()
            g.backward(enable_double_backprop=True)
        assert x.grad is None  # the fourth derivative of a cube

    def test_gradient_has_no_graph_by_default(self):
        x = var(2)
        multiply(x, x).backward()
        assert x.grad_var.creator is None

    def test_of_a_gradient_penalty(self):
        x, w = var(2), var(3)
        y = multiply(multiply(x, x), w)  # w x^2; gradient 2 w x
        y.backward(enable_double_backprop=True)
        gx = x.grad_var
        x.cleargrad()
        w.cleargrad()
        penalty = multiply(gx, gx)  # 4 w^2 x^2
        penalty.backward()
        assert w.grad.tolist() == [8 * 3 * 4]
        assert x.grad.tolist() == [8 * 9 * 2]

    def test_retained_outputs(self):
        x = var(1)
        exp(x).backward(enable_double_backprop=True)
        for _ in range(3):
            g = x.grad_var
            np.testing.assert_allclose(g.array, [np.e], rtol=1e-6)
            x.cleargrad()
            g.backward(enable_double_backprop=True)

    def test_retain_grad(self):
        x = var(2)
        y = multiply(x, x)
        z = multiply(y, y)
        z.backward(retain_grad=True, enable_double_backprop=True)
        assert y.grad_var.creator is not None
        assert y.grad.tolist() == [8]

    @pytest.mark.parametrize("lazy", [False, True])
    def test_lazy_grad_sum(self, lazy):
        x = var(2)
        with using_config("lazy_grad_sum", lazy):
            y = multiply(x, x)
            z = multiply(multiply(y, y), y)
            z.backward(enable_double_backprop=True)
            assert x.grad.tolist() == [6 * 2**5]
            g = x.grad_var
            x.cleargrad()
            g.backward()
            assert x.grad.tolist() == [30 * 2**4]

    def test_lazy_grad_sum_of_one_function(self):
        class Lazy(Multiply):
            lazy_grad_sum = True

        x = var(2)
        y = multiply(multiply(x, x, Lazy), multiply(x, x, Lazy), Lazy)
        y.backward(enable_double_backprop=True)
        assert x.grad.tolist() == [32]


class TestLossScale:
    def test_multiplies_the_first_gradient(self):
        x = Variable(np.array(2, np.float32))
        y = multiply(x, x)
        y.backward(retain_grad=True, loss_scale=10)
        assert y.grad == 10
        assert x.grad == 40
        assert x.loss_scale == 10

    def test_leaves_a_given_gradient_alone(self):
        x = var(2)
        y = multiply(x, x)
        y.grad = f32(1)
        y.backward(loss_scale=10)
        assert x.grad.tolist() == [4]

    def test_keeps_small_gradients(self):
        x = Variable(np.array([1e-4], np.float16))
        small = np.array([2e-5], np.float16)
        y = multiply(multiply(x, small), small)
        y.backward()
        assert x.grad == 0
        x.cleargrad()
        y.cleargrad()
        y.backward(loss_scale=1024)
        assert x.grad != 0
        assert x.grad.dtype == np.float16


class TestModes:
    def test_no_backprop_mode(self):
        x = var(2)
        with no_backprop_mode():
            y = multiply(x, x)
        assert y.creator is None
        assert y.array.tolist() == [4]
        y.backward()
        assert x.grad is None

    def test_no_backprop_mode_keeps_requires_grad(self):
        with no_backprop_mode():
            assert multiply(var(2), f32(1)).requires_grad
            x = Variable(f32(2), requires_grad=False)
            assert not multiply(x, f32(1)).requires_grad

    def test_force_backprop_mode(self):
        x = var(2)
        with no_backprop_mode(), force_backprop_mode():
            y = multiply(x, x)
        y.backward()
        assert x.grad.tolist() == [4]

    def test_modes_belong_to_a_thread(self):
        seen = []
        with no_backprop_mode():
            thread = threading.Thread(target=lambda: seen.append(multiply(var(2), f32(1)).creator))
            thread.start()
            thread.join()
        assert seen[0] is not None

    def test_no_backprop_mode_keeps_nothing_alive(self):
        x = var(2)
        with no_backprop_mode():
            y = exp(x)
            array = weakref.ref(y.array)
            z = multiply(y, y)
        del y
        assert array() is None
        assert z.array is not None

    def test_backward_restores_the_mode(self):
        class Fails(Multiply):
            def backward(self, target_input_indexes, grad_outputs):
                raise KeyError("x")

        x = var(2)
        y = multiply(x, x, Fails)
        with pytest.raises(KeyError):
            y.backward()
        assert multiply(x, x).creator is not None


class TestUnchained:
    def test_unchain_stops_backprop(self):
        x = var(2)
        y = multiply(x, x)
        z = multiply(y, x)
        y.unchain()
        z.backward()
        assert x.grad.tolist() == [4]
        assert y.grad.tolist() == [2]

    def test_truncated_backpropagation_through_time(self):
        w, h = var(2), var(1)
        gradients = []
        for _ in range(3):
            h = multiply(h, w)
            w.cleargrad()
            h.grad = None
            h.backward()
            gradients.append(w.grad.tolist())
            h.unchain_backward()
        assert gradients == [[1], [2], [4]]
