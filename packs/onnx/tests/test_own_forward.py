"""Functions of programs without a converter: those whose forward is arithmetic are exported."""

import numpy as np
import onnx_chainer
import pytest
from onnx_chainer.graph_conversion import MissingConverterError
from running import Apply
from running import run as run_by_names

import chainer
import chainer.functions as F

X, Y = (np.random.RandomState(i).randn(2, 3).astype(np.float32) for i in range(2))


def run(proto, arrays):
    names = [value.name for value in proto.graph.input]
    return run_by_names(proto, dict(zip(names, arrays, strict=True)))[0]


class OldMulAdd(chainer.Function):
    """As programs for Chainer 1 to 7 define functions."""

    def forward_cpu(self, inputs):
        x, y, z = inputs
        self.retain_inputs((0, 1))
        return (x * y + z,)

    def backward_cpu(self, inputs, grads):
        x, y, _ = inputs
        return y * grads[0], x * grads[0], grads[0]


class Scaled(chainer.FunctionNode):
    def __init__(self, factor):
        self._factor = factor

    def forward(self, inputs):
        self.retain_inputs((0,))
        self.kept = inputs[0]
        return inputs[0] ** 2 * self._factor, -inputs[0]

    def backward(self, indexes, grads):
        return (2 * self.get_retained_inputs()[0] * self._factor * grads[0],)


def test_an_old_function():
    model = Apply(lambda x, y: F.tanh(OldMulAdd()(x, y, x)))
    (found,) = run(onnx_chainer.export(model, (X, Y)), [X, Y])
    np.testing.assert_allclose(found, np.tanh(X * Y + X), rtol=1e-5)


def test_a_function_with_state_and_two_outputs():
    functions = []

    def call(x):
        functions.append(Scaled(np.float32(3)))
        a, b = functions[-1].apply((x,))
        return a + b

    proto = onnx_chainer.export(Apply(call), X)
    (found,) = run(proto, [Y])
    np.testing.assert_allclose(found, Y**2 * 3 - Y, rtol=1e-5)
    # The export leaves the function as it was.
    assert all(isinstance(function.kept, np.ndarray) for function in functions)


def test_gradients_are_still_there_after_an_export():
    x, y = chainer.Variable(X), chainer.Variable(Y)
    z = OldMulAdd()(x, y, x)
    onnx_chainer.export(Apply(lambda a, b: OldMulAdd()(a, b, a)), (X, Y))
    F.sum(z).backward()
    np.testing.assert_allclose(x.grad, Y + 1, rtol=1e-6)


def sorted_rows(function, inputs):
    return (np.sort(inputs[0], axis=1),)


def a_number(function, inputs):
    return (inputs[0] * float(inputs[0].sum()),)


def another_array(function, inputs):
    return (inputs[0] * np.asarray(getattr(inputs[1], "array", inputs[1])),)


def random(function, inputs):
    return (inputs[0] * np.random.rand(),)


def larger_where_positive(function, inputs):
    return (inputs[0] * (2.0 if getattr(inputs[0], "array", inputs[0])[0, 0] > 1.5 else 1.0),)


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        (sorted_rows, "its forward"),
        (another_array, "its forward takes input 1 out of its Variable"),
        (random, "its forward computes something else with Variables"),
    ],
)
def test_what_cannot_be_exported_says_why(forward, reason):
    class Opaque(chainer.FunctionNode):
        pass

    Opaque.forward = forward
    model = Apply(lambda x, y: Opaque().apply((x, y))[0])
    with pytest.raises(MissingConverterError) as caught:
        onnx_chainer.export(model, (X, Y))
    assert f"Opaque is not supported ({__name__}." in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize("forward", [a_number, larger_where_positive])
def test_numbers_and_conditions_are_warned_of(forward):
    class Frozen(chainer.FunctionNode):
        pass

    Frozen.forward = forward
    x = X.copy()
    # The export also runs the model with larger numbers.
    x[0, 0] = x[1, 2] = 1.4
    model = Apply(lambda x: Frozen().apply((x,))[0])
    with pytest.warns(UserWarning, match="depends on the values of the inputs"):
        onnx_chainer.export(model, x)


def test_a_converter_comes_first():
    def convert(nodes, x, y, z):
        return nodes("Identity", z)

    rule = onnx_chainer.converter(register=False)(convert)
    model = Apply(lambda x, y: OldMulAdd()(x, y, x))
    with pytest.warns(FutureWarning, match="external_converters is experimental"):
        proto = onnx_chainer.export(model, (X, Y), external_converters={"OldMulAdd": rule})
    (found,) = run(proto, [X, Y])
    np.testing.assert_array_equal(found, X)
