import gc
import weakref

import numpy as np
import pytest

import chainer
from chainer.core.autograd.function import Function, FunctionAdapter
from chainer.core.autograd.variable import Variable
from tests.core.nodes import OldMultiply, f32, multiply, var


class TestCall:
    def test_result(self):
        y = OldMultiply()(var(2), var(3))
        assert isinstance(y, Variable)
        assert y.array.tolist() == [6]

    def test_arrays(self):
        assert OldMultiply()(f32(2), f32(3)).array.tolist() == [6]

    def test_several_outputs(self):
        class Split(Function):
            def forward(self, inputs):
                return inputs[0] + 1, inputs[0] + 2

        y, z = Split()(var(0))
        assert (y.array.tolist(), z.array.tolist()) == ([1], [2])

    def test_again(self):
        function = OldMultiply()
        x = var(3)
        y = function(x, x)
        z = function(x, y)
        assert function.inputs[1] is y.node
        z.backward()
        assert x.grad.tolist() == [27]

    def test_output_must_be_a_tuple(self):
        class Bad(Function):
            def forward(self, inputs):
                return inputs[0]

        with pytest.raises(TypeError, match=r"forward output must be a tuple \(Bad\)"):
            Bad()(var(1))

    def test_type_check(self):
        class Checked(OldMultiply):
            def check_type_forward(self, in_types):
                chainer.utils.type_check.expect(in_types[0].shape == in_types[1].shape)

        with pytest.raises(chainer.utils.type_check.InvalidType, match=r"in: Checked \(Forward\)"):
            Checked()(var(1), var(1, 2))

    def test_cpu_and_gpu(self):
        class Both(Function):
            def forward_cpu(self, inputs):
                return (inputs[0] + 1,)

            def forward_gpu(self, inputs):
                return (inputs[0] + 2,)

            def backward_cpu(self, inputs, grad_outputs):
                return (grad_outputs[0] * 10,)

            def backward_gpu(self, inputs, grad_outputs):
                return (grad_outputs[0] * 20,)

        for device, forward, backward in (("@numpy", 2, 10), ("@strict", 3, 20)):
            x = Variable(chainer.get_device(device).send(f32(1)))
            y = Both()(x)
            y.backward()
            assert float(y.array[0]) == forward
            assert float(x.grad[0]) == backward

    def test_missing_forward(self):
        with pytest.raises(NotImplementedError, match="Function defines neither forward"):
            Function()(var(1))


class TestBackward:
    def test_gradients(self):
        x, y = var(2), var(3)
        OldMultiply()(x, y).backward()
        assert (x.grad.tolist(), y.grad.tolist()) == ([3], [2])

    def test_not_differentiable_by_default(self):
        class Plus(Function):
            def forward(self, inputs):
                return (inputs[0] + 1,)

        x = var(1)
        Plus()(x).backward()
        assert x.grad is None

    def test_mixed_with_function_nodes(self):
        x = var(2)
        multiply(OldMultiply()(x, x), x).backward()
        assert x.grad.tolist() == [12]

    @pytest.mark.parametrize("gradients", [(f32(1),), f32(1)])
    def test_wrong_number(self, gradients):
        class Bad(OldMultiply):
            def backward(self, inputs, grad_outputs):
                return gradients

        match = r"(?s)is incorrect: \d != expected 2.*function=Bad \(Bad\)|Bad.*must return a tuple"
        with pytest.raises(ValueError, match=match):
            Bad()(var(1), var(2)).backward()

    def test_surplus_gradients_are_ignored(self):
        class Surplus(OldMultiply):
            def backward(self, inputs, grad_outputs):
                return (*super().backward(inputs, grad_outputs), None)

        x, y = var(2), var(3)
        Surplus()(x, y).backward()
        assert x.grad.tolist() == [3]

    def test_list_is_as_good_as_a_tuple(self):
        class Listed(OldMultiply):
            def backward(self, inputs, grad_outputs):
                return list(super().backward(inputs, grad_outputs))

        x, y = var(2), var(3)
        Listed()(x, y).backward()
        assert x.grad.tolist() == [3]
        assert y.grad.tolist() == [2]

    def test_element_that_is_no_array(self):
        class Bad(OldMultiply):
            def backward(self, inputs, grad_outputs):
                return [1.0, grad_outputs[0]]

        with pytest.raises(TypeError, match="Bad"):
            Bad()(var(2), var(3)).backward()

    def test_wrong_dtype(self):
        class Bad(OldMultiply):
            def backward(self, inputs, grad_outputs):
                return np.ones(1), np.ones(1)

        with pytest.raises(TypeError, match="Dtype of data and grad mismatch"):
            Bad()(var(1), var(2)).backward()

    def test_first_order_in_double_backprop_mode(self):
        x = var(3)
        OldMultiply()(x, x).backward(enable_double_backprop=True)
        assert x.grad.tolist() == [6]

    def test_second_order_is_refused(self):
        x = var(3)
        OldMultiply()(x, x).backward(enable_double_backprop=True)
        g = x.grad_var
        x.cleargrad()
        with pytest.raises(
            RuntimeError, match='cannot twice-differentiate an old style Function "OldMultiply"'
        ):
            g.backward()

    def test_second_order_through_other_inputs_is_refused_too(self):
        x = var(3)
        y = multiply(OldMultiply()(x, x), x)
        (gx,) = chainer.grad([y], [x], enable_double_backprop=True)
        with pytest.raises(RuntimeError, match="cannot twice-differentiate"):
            chainer.grad([gx], [x])


class TestRetaining:
    def test_inputs_by_default(self):
        seen = []

        class Watch(OldMultiply):
            def backward(self, inputs, grad_outputs):
                seen.append([None if a is None else a.tolist() for a in inputs])
                return None, None

        Watch()(var(2), var(3)).backward()
        assert seen == [[[2], [3]]]

    def test_some(self):
        seen = []

        class Watch(Function):
            def forward(self, inputs):
                self.retain_inputs((1,))
                self.retain_outputs((0,))
                return (inputs[0] * inputs[1],)

            def backward(self, inputs, grad_outputs):
                seen.append([None if a is None else a.tolist() for a in inputs])
                seen.append([a.tolist() for a in self.output_data])
                return None, None

        Watch()(var(2), var(3)).backward()
        assert seen == [[None, [3]], [[6]]]


class TestNode:
    def test_creator(self):
        x = var(2)
        function = OldMultiply()
        y = function(x, x)
        assert y.creator is function
        assert isinstance(y.creator_node, FunctionAdapter)
        assert y.creator_node is function.node
        assert y.creator_node.function is function
        assert y.creator_node.label == function.label == "OldMultiply"
        assert function.inputs == (x.node, x.node)
        assert function.outputs[0]() is y.node
        assert function.rank == 0
        assert function.stack is None

    def test_graph_keeps_the_function_alive(self):
        function = OldMultiply()
        reference = weakref.ref(function)
        y = function(var(2), var(3))
        del function
        gc.collect()
        assert y.creator is reference()
        del y
        gc.collect()
        assert reference() is None

    def test_no_reference_cycle(self):
        gc.collect()
        gc.disable()
        try:
            function = OldMultiply()
            reference = weakref.ref(function)
            y = function(var(2), var(3))
            del function, y
            assert reference() is None
        finally:
            gc.enable()

    def test_unchain(self):
        function = OldMultiply()
        y = function(var(2), var(3))
        function.unchain()
        assert y.creator is None

    def test_retained_outputs_are_gone(self):
        function = OldMultiply()
        function(var(2), var(3))
        with pytest.raises(RuntimeError, match="retained output data is gone"):
            function.output_data

    def test_array_shapes(self):
        x = Variable(np.ones((2, 3), np.float32))
        y = OldMultiply()(x, x)
        y.grad = np.ones((2, 3), np.float32)
        y.backward()
        assert x.grad.shape == (2, 3)
