"""What is said about mistakes in functions that are derived from `chainer.functions.rules`."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.functions.rules import ExpressionFunction, UnaryFunction

X = np.ones((2, 3), np.float32)


class Double(UnaryFunction):
    """Forgets to retain what its formula needs."""

    def forward(self, inputs):
        return (inputs[0] * 2,)

    def gradient(self, ops, x, gy):
        return gy * x / x


class Product(ExpressionFunction):
    """Retains one of two inputs."""

    retained_inputs = (0,)

    def forward(self, inputs):
        return (inputs[0] * inputs[1],)

    def gradients(self, ops, targets, x0, x1, gy):
        return tuple([gy * (x0 if i else x1) for i in targets])


class Failing(UnaryFunction):
    """Fails for another reason than its arguments."""

    def forward(self, inputs):
        return (inputs[0] * 2,)

    def gradient(self, ops, gy):
        return gy + "one"


def note_of(function, inputs, **options):
    variables = [chainer.Variable(x) for x in inputs]
    (y,) = function.apply(variables)
    with pytest.raises(TypeError) as caught:
        chainer.grad([F.sum(y)], variables, **options)
    return getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize("double", [False, True])
def test_formula_gets_other_arguments(double):
    (note,) = note_of(Double(), [X], enable_double_backprop=double)
    assert note == (
        "Double.gradient() gets ops, 0 retained inputs, 0 retained outputs and 1 gradients of "
        "outputs. Name the arrays that it needs in retained_inputs and retained_outputs."
    )
    (note,) = note_of(Product(), [X, X], enable_double_backprop=double)
    assert "Product.gradients() gets ops, targets, 1 retained inputs, 0 retained outputs" in note


def test_other_errors_get_no_note():
    assert note_of(Failing(), [X]) == []


@pytest.mark.parametrize("attribute", ["retained_inputs", "retained_outputs"])
def test_indexes_must_be_a_tuple(attribute):
    with pytest.raises(
        TypeError, match=rf"{attribute} of Wrong must be a tuple of indexes, .*\(0,\), got 0"
    ):
        type("Wrong", (UnaryFunction,), {attribute: 0})
