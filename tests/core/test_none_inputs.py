"""None among the inputs and outputs of functions, as releases 4 to 7 allow it."""

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.utils import type_check
from tests.core.nodes import f32, var


class Doubled(chainer.FunctionNode):
    """The double of each input that is not None. The third input may have to match the first."""

    def check_type_forward(self, in_types):
        if type_check.eval(in_types.size()) > 2 and in_types[2] is not None:
            type_check.expect(in_types[0].dtype == in_types[2].dtype)

    def forward(self, inputs):
        return tuple(None if x is None else x * 2 for x in inputs)

    def backward(self, target_input_indexes, grad_outputs):
        gys = [grad_outputs[i] for i in target_input_indexes]
        return tuple(None if gy is None else gy * 2 for gy in gys)


class OldDoubled(chainer.Function):
    """The same in the old style."""

    def forward(self, inputs):
        return tuple(None if x is None else x * 2 for x in inputs)

    def backward(self, inputs, grad_outputs):
        return tuple(None if gy is None else gy * 2 for gy in grad_outputs)


def doubled(*inputs):
    return Doubled().apply(inputs)


def old_doubled(*inputs):
    return OldDoubled()(*inputs)


@pytest.mark.parametrize("apply", [doubled, old_doubled])
@pytest.mark.parametrize("missing", [None, chainer.Variable(None)])
@pytest.mark.parametrize("debug", [False, True])
def test_none_among_inputs_and_outputs(apply, missing, debug):
    x, z = var(1, 2), var(3, 4)
    with chainer.using_config("debug", debug):
        first, second, third = apply(x, missing, z)
        assert second.array is None
        F.sum(first * third).backward()
    assert x.grad.tolist() == [12, 16]
    assert z.grad.tolist() == [4, 8]


@pytest.mark.parametrize("apply", [doubled, old_doubled])
def test_first_and_all_inputs_none(apply):
    assert [y.array is None for y in apply(None, var(1))] == [True, False]
    assert [y.array is None for y in apply(None, None)] == [True, True]


def test_without_graph():
    with chainer.no_backprop_mode():
        assert [y.array is None for y in doubled(var(1), None)] == [False, True]


def test_check_fails_where_the_third_input_does_not_match():
    with pytest.raises(type_check.InvalidType, match="float32 != float64"):
        doubled(var(1), None, np.array([1.0]))


def test_light_types_are_the_inputs():
    seen = []

    class Watching(Doubled):
        def check_type_forward(self, in_types):
            seen.append([in_types[0], in_types[1]])

    x = var(1)
    Watching().apply((x, None))
    assert seen[0][0] is x.array
    assert seen[0][1] is None


def test_node_of_an_array_has_no_variable():
    (y,) = Doubled().apply((f32(1),))
    assert y.creator.inputs[0]._variable() is None
    assert y.node._variable() is y


def test_functions_of_the_library_refuse_none():
    with pytest.raises(RuntimeError, match="input 0 of ReLU is an uninitialized variable, or None"):
        F.relu(chainer.Variable(None))


def test_texts_of_expressions():
    x, y = type_check.Variable(1, "x"), type_check.Variable(2, "y")
    assert [str(e) for e in (x + y, -x, +x)] == ["x + y", "-x", "+x"]
    assert (+x).eval() == 1
    assert type_check.eval((x, [y + 1])) == (1, [3])
    type_check.expect(type_check.Variable((1, 2), "s") == (x, y))


def test_debug_print_of_zero_gradients():
    x = var(1)
    x.grad = f32(0)
    assert x.debug_print().splitlines()[-1] == "- grad: 0"
