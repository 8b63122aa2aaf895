"""Symbolic graphs as differentiable functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy

from chainer.core.arrays.backend import get_device_from_array
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.typing import DTypeLike
from chainer.core.utils import type_check


def _is_float(variable: Any) -> bool:
    return numpy.dtype(variable.dtype).kind == "f"


class Graph:
    """A symbolic graph, compiled at its first call.

    Args:
        inputs: Symbolic variables of the inputs.
        outputs: Symbolic variables computed from them.
    """

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)

    @cached_property
    def function(self) -> Any:
        """The compiled function: host arrays to the list of host arrays."""
        import pytensor

        return pytensor.function(list(self.inputs), list(self.outputs), on_unused_input="ignore")

    @cached_property
    def gradient(self) -> Graph:
        """The graph of the gradients of the floating-point inputs.

        Its inputs are the inputs of this graph, then the gradients of the floating-point outputs.
        """
        import pytensor

        # Integers have no gradients.
        known = {y: y.type() for y in self.outputs if _is_float(y)}
        gradients: Any = pytensor.grad(
            None,
            [x for x in self.inputs if _is_float(x)],
            known_grads=known,
            disconnected_inputs="ignore",
            return_disconnected="zero",
        )
        return Graph((*self.inputs, *known.values()), gradients)


class TheanoNode(FunctionNode):
    """Calls the function of a graph on copies in host memory; gradients of any order.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @property
    def label(self) -> str:
        """Name of the link."""
        return "TheanoFunction"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        inputs = self._graph.inputs
        type_check.expect(in_types.size() == len(inputs))
        for in_type, x in zip(in_types, inputs, strict=True):
            type_check.expect(in_type.dtype == numpy.dtype(x.dtype), in_type.ndim == x.ndim)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs(tuple(range(len(inputs))))
        device = get_device_from_array(inputs[0])
        host = [device.backend.to_host(x) for x in inputs]
        results = [numpy.asarray(y) for y in self._graph.function(*host)]
        # A graph may return an input itself; an output must not share memory with it.
        outputs = tuple(y.copy() if any(y is x for x in host) else y for y in results)
        # For gradients of zero, which backward makes in place of missing ones.
        self._output_types = [(y.shape, y.dtype) for y in outputs]
        return tuple(device.send(y) for y in outputs)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        graph = self._graph
        xs = self.get_retained_inputs()
        gys = []
        for y, gy, (shape, dtype) in zip(
            graph.outputs, grad_outputs, self._output_types, strict=True
        ):
            if _is_float(y):
                gys.append(self._zeros(xs[0], shape, dtype) if gy is None else gy)
        gradients = iter(TheanoNode(graph.gradient).apply((*xs, *gys)))
        by_input = [next(gradients) if _is_float(x) else None for x in graph.inputs]
        return tuple(by_input[i] for i in target_input_indexes)

    def _zeros(self, like: Variable, shape: tuple[int, ...], dtype: DTypeLike) -> Variable:
        device = get_device_from_array(like.array)
        with device.backend.use(device):
            return Variable(device.xp.zeros(shape, dtype))
