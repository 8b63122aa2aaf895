"""Elementwise functions whose derivative is zero wherever it exists."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.batching import is_batched
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Arrays, VariableLike
from chainer.functions.rules.type_checks import expect_one_array


def apply_without_gradient(name: str, x: VariableLike) -> Variable:
    """Returns the values of a function as a variable that is not connected to the graph.

    Args:
        name: Name of the function in array namespaces.
        x: Input of any shape.
    """
    # The graph exists for backward, which has nothing to do here. Only what reads a graph for
    # another purpose, such as an exporter, asks for a node.
    # And only the node has a batching rule: a batched array has no values to read.
    if getattr(config, "record_gradientless_functions", False) or is_batched(x):
        return _NODES[name]().apply((x,))[0]
    array = x.array if isinstance(x, Variable) else x
    backend = backend_of(array)
    with backend.device_of(array):
        y = backend.asarray(getattr(backend.xp, name)(backend.to_xp(array)))
    return Variable(y, requires_grad=False)


class _GradientlessFunction(FunctionNode):
    """Node of a function without a gradient.

    Attributes:
        function_name: Name of the function in array namespaces.
    """

    function_name: ClassVar[str]
    type_check_key = ()
    is_pointwise = True
    check_type_forward = expect_one_array

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.asarray(getattr(self.xp, self.function_name)(inputs[0])),)


class Ceil(_GradientlessFunction):
    """Rounding up."""

    function_name = "ceil"


class Fix(_GradientlessFunction):
    """Rounding towards zero."""

    function_name = "trunc"


class Floor(_GradientlessFunction):
    """Rounding down."""

    function_name = "floor"


class Sign(_GradientlessFunction):
    """Sign: -1, 0 or 1."""

    function_name = "sign"


_NODES = {node.function_name: node for node in (Ceil, Fix, Floor, Sign)}
