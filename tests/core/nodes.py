"""Function nodes for the tests of the core, which know no other function."""

import numpy as np

from chainer.core.autograd.function import Function
from chainer.core.autograd.function_hook import FunctionHook
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable


def f32(*values):
    return np.array(values, np.float32)


def var(*values, **kwargs):
    return Variable(f32(*values), **kwargs)


class Multiply(FunctionNode):
    """Product; the gradient is made of products, so it can be differentiated for ever."""

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, target_input_indexes, grad_outputs):
        inputs = self.get_retained_inputs()
        return tuple(multiply(inputs[1 - i], grad_outputs[0]) for i in target_input_indexes)


class MultiplyArrays(Multiply):
    """The same with gradients on arrays, as hot functions have."""

    def backward(self, target_input_indexes, grad_outputs):
        return Multiply.backward(self, target_input_indexes, grad_outputs)

    def backward_arrays(self, target_input_indexes, grad_outputs):
        inputs = self.retained_input_arrays
        return tuple(inputs[1 - i] * grad_outputs[0] for i in target_input_indexes)


def multiply(x, y, node=Multiply):
    return node().apply((x, y))[0]


class Add(FunctionNode):
    """Sum of any number of inputs; hands its gradient on to all of them."""

    def forward(self, inputs):
        total = inputs[0]
        for x in inputs[1:]:
            total = total + x
        return (total if len(inputs) > 1 else total.copy(),)

    def backward(self, target_input_indexes, grad_outputs):
        return (grad_outputs[0],) * len(target_input_indexes)

    def backward_arrays(self, target_input_indexes, grad_outputs):
        return (grad_outputs[0],) * len(target_input_indexes)


def add(*xs):
    return Add().apply(xs)[0]


class Split(FunctionNode):
    """Two outputs: ``2 * x`` and ``3 * x``; records the gradients it gets."""

    def forward(self, inputs):
        (x,) = inputs
        return x * x.dtype.type(2), x * x.dtype.type(3)

    def backward(self, target_input_indexes, grad_outputs):
        self.seen = tuple(None if g is None else g.array.tolist() for g in grad_outputs)
        parts = [
            multiply(g, np.full(g.shape, factor, g.dtype))
            for g, factor in zip(grad_outputs, (2, 3), strict=True)
            if g is not None
        ]
        return (add(*parts),)


class Exp(FunctionNode):
    """Exponential; needs its output."""

    def forward(self, inputs):
        self.retain_outputs((0,))
        return (self.xp.exp(inputs[0]),)

    def backward(self, target_input_indexes, grad_outputs):
        (y,) = self.get_retained_outputs()
        return (multiply(y, grad_outputs[0]),)


def exp(x):
    return Exp().apply((x,))[0]


class NotDifferentiable(FunctionNode):
    def forward(self, inputs):
        return (inputs[0] * 1,)


class OldMultiply(Function):
    """Product in the old style."""

    def forward(self, inputs):
        x, y = inputs
        return (x * y,)

    def backward(self, inputs, grad_outputs):
        x, y = inputs
        (gz,) = grad_outputs
        return y * gz, x * gz


class Recorder(FunctionHook):
    """Writes down what it is told."""

    name = "Recorder"

    def __init__(self):
        self.calls = []

    def added(self, function):
        self.calls.append(("added", function))

    def deleted(self, function):
        self.calls.append(("deleted", function))

    def forward_preprocess(self, function, in_data):
        self.calls.append(("forward_preprocess", function.label, in_data))

    def forward_postprocess(self, function, in_data):
        self.calls.append(("forward_postprocess", function.label, in_data))

    def backward_preprocess(self, function, in_data, out_grad):
        self.calls.append(("backward_preprocess", function.label, in_data, out_grad))

    def backward_postprocess(self, function, in_data, out_grad):
        self.calls.append(("backward_postprocess", function.label, in_data, out_grad))

    @property
    def events(self):
        return [call[:2] for call in self.calls]


class Loss(FunctionNode):
    """Scalar on top of a variable, whose gradient it takes out of a list."""

    def __init__(self, made):
        self.made = made

    def forward(self, inputs):
        return (np.zeros((), np.float32),)

    def backward(self, target_input_indexes, grad_outputs):
        return (Variable(self.made[0]),)
