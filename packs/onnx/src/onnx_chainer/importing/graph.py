"""Graphs of ONNX as lists of calls of Python functions.

A model's graph, the bodies of If, Loop and Scan, and the bodies of functions are compiled once, by
:class:`Compiler`, and run by :meth:`Graph.run`.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy

from chainer.utils.type_check import InvalidType
from onnx_chainer.importing import limits
from onnx_chainer.importing.attributes import Attributes, attributes_of
from onnx_chainer.importing.bodies import function_body, has_body
from onnx_chainer.importing.errors import (
    LimitError,
    ONNXFormatError,
    ONNXModelError,
    OperatorError,
)
from onnx_chainer.importing.limits import budget, check_shape, size_of
from onnx_chainer.importing.reference import reference_operator
from onnx_chainer.importing.values import Value, array_of, dtype_of, whole
from onnx_chainer.optional import require

Scope: TypeAlias = MutableMapping[str, Value]
"""Values by name. A body sees the names of the graph around it."""

Operator: TypeAlias = Callable[..., Any]
"""A function of the attributes and the inputs of a node. It returns the output or a tuple of them.
With the attribute ``takes_scope`` it gets the scope after the attributes."""

#: Errors of functions for inputs that they cannot compute, besides RuntimeError itself. Other
#: errors pass, such as the one by which a recorder of steps gives up.
_ERRORS_OF_NODES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    InvalidType,
)


def _described(value: Value) -> str:
    """Returns dtype and shape of an input, for messages."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return f"{len(value)} tensors"
    return f"{dtype_of(value).name}{list(array_of(value).shape)}"


class OperatorLookup(Protocol):
    """Finds the functions of operators."""

    def find(self, name: str) -> Operator | None:
        """Returns the function of an operator, or None if there is none.

        Args:
            name: The name with its domain, which ONNX's own operators do not have.
        """
        ...


@dataclasses.dataclass
class Node:
    """A call of an operator.

    Attributes:
        function: The operator.
        name: Name of the node, or of its first output.
        attributes: Its attributes.
        inputs: Names of the inputs; empty for one that is left out.
        outputs: Names of the outputs.
        reads: The inputs, and what bodies of control flow read of the graph around them.
        released: Names of values that no later node of the graph reads.
    """

    function: Operator
    name: str
    attributes: Attributes
    inputs: list[str]
    outputs: list[str]
    reads: set[str]
    released: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._shape = getattr(self.function, "result_shape", None)
        self._takes_scope = getattr(self.function, "takes_scope", False)

    def compute(self, scope: Scope) -> Any:
        """Returns the results for the inputs in a scope.

        Raises:
            ONNXModelError: If they cannot be computed.
        """
        inputs = [scope[name] for name in self.inputs]
        try:
            if self._shape is not None:
                shape = self._shape(self.attributes, *inputs)
                if shape is not None:
                    check_shape(self.attributes.operator, shape)
            if self._takes_scope:
                return self.function(self.attributes, scope, *inputs)
            return self.function(self.attributes, *inputs)
        except ONNXModelError:
            raise
        except (*_ERRORS_OF_NODES, RuntimeError) as error:
            if not isinstance(error, _ERRORS_OF_NODES) and type(error) is not RuntimeError:
                raise  # such as NotRecordableError
            described = [_described(value) for value in inputs]
            raise OperatorError(self.attributes.operator, self.name, described, error) from error


class Graph:
    """A compiled graph.

    Args:
        nodes: The nodes in the order of execution.
        inputs: Names of the inputs.
        outputs: Names of the outputs.
        constants: Values of initializers; the initializers of a model are attributes of its link
            instead.
    """

    def __init__(
        self,
        nodes: list[Node],
        inputs: Sequence[str],
        outputs: Sequence[str],
        constants: dict[str, Any],
    ) -> None:
        self.nodes = nodes
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.constants = constants
        self.reads = self._names_from_outside()
        self._release()

    def _names_from_outside(self) -> set[str]:
        known = {*self.inputs, *self.constants}
        outside: set[str] = set()
        for node in self.nodes:
            outside |= node.reads - known
            known.update(node.outputs)
        return (outside | ({*self.outputs} - known)) - {""}

    def _release(self) -> None:
        # Values that are needed again at the end, or are not results of nodes, stay.
        made = {name for node in self.nodes for name in node.outputs} - {*self.outputs, ""}
        seen: set[str] = set()
        for node in reversed(self.nodes):
            last = ((node.reads | {*node.outputs}) & made) - seen
            node.released = tuple(last)
            seen |= last

    def run(self, values: Sequence[Value], scope: Scope) -> list[Value]:
        """Computes the outputs.

        Args:
            values: The inputs.
            scope: Values of the graph around it.
        """
        inner = ChainMap({"": None, **self.constants, **dict(zip(self.inputs, values))}, scope)
        return self.run_in(inner)

    def run_in(self, scope: Scope) -> list[Value]:
        """Computes the outputs in a scope that has the inputs. It gets the results of the nodes."""
        used = budget()
        before = used.live
        for node in self.nodes:
            results = node.compute(scope)
            if not isinstance(results, tuple):
                results = (results,)
            for name, result in zip(node.outputs, results):
                scope[name] = result = whole(result)
                used.keep(node.attributes.operator, size_of(result))
            for name in node.released:
                used.live -= size_of(scope[name])
                del scope[name]
            scope[""] = None
        # The caller counts the results of a body.
        used.live = before
        # The body of a function leaves out results that its call does not ask for.
        return [scope.get(name) for name in self.outputs]


class Compiler:
    """Compiles the graphs of one model.

    Args:
        proto (onnx.ModelProto): The model.
        operators: Finds the functions of operators by name. Names of other domains than ONNX's own
            begin with the domain and a dot.
    """

    def __init__(self, proto: Any, operators: OperatorLookup) -> None:
        self._operators = operators
        self._opsets = {o.domain: o.version for o in proto.opset_import}
        self._functions = {
            (f.domain, f.name, getattr(f, "overload", "")): f for f in proto.functions
        }
        self._calls: list[str] = []
        self._count = 0
        self._constant_bytes = 0
        self.unknown: list[str] = []

    def compile(self, graph: Any, initializers: bool = True) -> Graph:
        """Compiles a graph (``onnx.GraphProto``).

        Args:
            graph: The graph.
            initializers: Whether the compiled graph holds the values of the initializers.
        """
        constants: dict[str, Any] = {}
        if initializers:
            to_array = require("onnx").numpy_helper.to_array
            constants = {tensor.name: to_array(tensor) for tensor in graph.initializer}
        nodes = self.compile_nodes(graph.node, self._opsets, None)
        inputs = [x.name for x in graph.input]
        return Graph(nodes, inputs, [y.name for y in graph.output], constants)

    def compile_nodes(
        self, nodes: Iterable[Any], opsets: dict[str, int], references: dict[str, Any] | None
    ) -> list[Node]:
        """Compiles nodes.

        Args:
            nodes: The nodes (``onnx.NodeProto``).
            opsets: Versions of the operator sets by domain.
            references: Attributes of the call of the function whose body has the nodes.
        """
        compiled: list[Node] = []
        for node in nodes:
            self._count += 1
            if self._count > limits.MAX_NODES:
                raise LimitError("model", "nodes", self._count, "MAX_NODES", limits.MAX_NODES)
            domain = "" if node.domain == "ai.onnx" else node.domain
            opset = opsets.get(domain, 1)
            bodies: list[Graph] = []

            def compile_graph(graph: Any, bodies: list[Graph] = bodies) -> Graph:
                body = self._body(graph, opsets, references)
                bodies.append(body)
                return body

            attributes = attributes_of(node, opset, compile_graph, references)
            self._count_constants(attributes)
            function = self._function_of(node, domain, attributes, opsets)
            if function is None:
                continue
            reads = {*node.input}.union(*[body.reads for body in bodies]) - {""}
            name = node.name or next(iter(node.output), "")
            compiled.append(Node(function, name, attributes, [*node.input], [*node.output], reads))
        return compiled

    def _count_constants(self, attributes: Attributes) -> None:
        """Refuses constants that calls of functions multiply until they fill the memory."""
        self._constant_bytes += sum(
            [value.nbytes for value in attributes.values() if isinstance(value, numpy.ndarray)]
        )
        most = limits.MAX_CONSTANT_BYTES
        if self._constant_bytes > most:
            raise LimitError(
                attributes.operator,
                "bytes of constants",
                self._constant_bytes,
                "MAX_CONSTANT_BYTES",
                most,
            )

    def _body(self, graph: Any, opsets: dict[str, int], references: Any) -> Graph:
        to_array = require("onnx").numpy_helper.to_array
        constants = {tensor.name: to_array(tensor) for tensor in graph.initializer}
        nodes = self.compile_nodes(graph.node, opsets, references)
        names = [x.name for x in graph.input], [y.name for y in graph.output]
        return Graph(nodes, *names, constants)

    def _function_of(
        self, node: Any, domain: str, attributes: Attributes, opsets: dict[str, int]
    ) -> Operator | None:
        """Returns the function that computes a node; None, and a note, where there is none."""
        key = (node.domain, node.op_type, getattr(node, "overload", ""))
        if key in self._functions:
            return self._call(self._functions[key], node)
        name = f"{domain}.{node.op_type}" if domain else node.op_type
        known = self._operators.find(name)
        if known is not None:
            return known
        if has_body(node.op_type, domain, attributes.opset):
            return function_body(node, domain, attributes.opset, self)
        reference = reference_operator(node, domain, attributes.opset)
        if reference is None and name not in self.unknown:
            self.unknown.append(name)
        return reference

    def _call(self, function: Any, node: Any) -> Operator:
        """Returns a call of a function of the model."""
        name = f"{function.domain}.{function.name}"
        if name in self._calls:
            raise ONNXFormatError(f"the function {name!r} of the model calls itself")
        self._calls.append(name)
        try:
            return self.inlined(function, node)
        finally:
            self._calls.pop()

    def inlined(self, function: Any, node: Any, defaults: Iterable[Any] = ()) -> Operator:
        """Returns an operator that runs the body of a function.

        Args:
            function (onnx.FunctionProto): The function.
            node (onnx.NodeProto): Its call.
            defaults: Attributes (onnx.AttributeProto) that the call may leave out.
        """
        references = {a.name: a for a in (*defaults, *function.attribute_proto)}
        references.update({a.name: a for a in node.attribute})
        opsets = {o.domain: o.version for o in function.opset_import} or self._opsets
        nodes = self.compile_nodes(function.node, opsets, references)
        body = Graph(nodes, [*function.input], [*function.output], {})

        def call(attributes: Attributes, *inputs: Value) -> tuple[Value, ...]:
            missing = [None] * (len(body.inputs) - len(inputs))
            return tuple(body.run([*inputs, *missing], {}))

        return call
