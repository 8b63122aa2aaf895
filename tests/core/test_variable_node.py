import gc

import pytest

from chainer.core.autograd.variable import Variable
from chainer.core.autograd.variable_node import VariableNode
from tests.core.nodes import Exp, OldMultiply, exp, f32, multiply, var


def test_properties():
    x = var(1, 2, grad=f32(3, 4), name="x")
    node = x.node
    assert isinstance(node, VariableNode)
    assert node.shape == (2,)
    assert node.dtype == "float32"
    assert node.name == "x"
    assert node.label == "(2), float32"
    assert node.rank == 0
    assert node.requires_grad
    assert node.grad is x.grad
    assert node.grad_var is x.grad_var
    assert node.get_variable() is x
    assert node.get_variable_or_none() is x
    assert node.creator is None


def test_node_is_made_once():
    x = var(1)
    assert x.node is x.node


def test_data_only_when_retained():
    x = var(1)
    assert x.node.data is None
    x.retain_data()
    assert x.node.data is x.array


def test_variable_is_held_weakly():
    x = var(1, grad=f32(2))
    node = x.node
    del x
    assert node.get_variable_or_none() is None
    assert node.grad is None
    assert node.grad_var is None


def test_variable_is_made_again():
    x = var(1, name="x")
    x.retain_data()
    node = x.node
    array = x.array
    del x
    again = node.get_variable()
    assert again.node is node
    assert again.array is array
    assert again.name == "x"
    assert node.get_variable() is again


def test_retain_data_of_a_dead_variable():
    x = var(1)
    node = x.node
    del x
    with pytest.raises(RuntimeError, match="released"):
        node.retain_data()


def test_creator():
    x = var(1)
    y = multiply(x, x)
    node = y.node
    creator = node.creator_node
    assert node.creator is creator
    node.unchain()
    assert node.creator is None
    node.set_creator(creator)
    assert node.creator_node is creator
    node.creator_node = None
    node.set_creator_node(creator)
    assert node.rank == 1


def test_creator_of_old_style_functions():
    x = var(3)
    function = OldMultiply()
    y = function(x, x)
    assert y.node.creator is function
    assert y.node.creator_node is function.node
    z = Variable(y.array)
    z.node.set_creator_node(function)
    assert z.creator_node is function.node


def test_uninitialized():
    node = Variable().node
    assert node.shape is None
    assert node.dtype is None
    assert node.label == "(uninitialized)"


def test_arguments():
    with pytest.raises(ValueError, match="grad"):
        VariableNode(var(1), "x", grad=f32(1))


def test_retained_output_outlives_its_variable():
    x = var(1)
    y = exp(x)
    z = multiply(y, y)
    creator = y.creator_node
    del y
    gc.collect()
    assert isinstance(creator, Exp)
    z.grad = f32(1)
    z.backward()
    assert x.grad == pytest.approx(2 * 2.718281828**2, rel=1e-5)


def test_programs_may_set_attributes():
    """Tools that draw graphs mark nodes: ``node.name_scope = ...``."""
    y = exp(var(1.0))
    y.node.name_scope = "first"
    assert y.node.name_scope == "first"
    assert not hasattr(y.creator.inputs[0], "name_scope")
