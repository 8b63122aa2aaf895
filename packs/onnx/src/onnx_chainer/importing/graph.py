"""Graphs of ONNX as lists of calls of Python functions.

A model's graph, the bodies of If, Loop and Scan, and the bodies of functions are compiled once, by
:class:`Compiler`, and run by :meth:`Graph.run`.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import Any, Protocol, TypeAlias

from onnx_chainer.importing.attributes import Attributes, attributes_of
from onnx_chainer.importing.bodies import function_body, has_body
from onnx_chainer.importing.errors import ONNXFormatError
from onnx_chainer.importing.reference import reference_operator
from onnx_chainer.importing.values import Value, whole
from onnx_chainer.optional import require

Scope: TypeAlias = MutableMapping[str, Value]
"""Values by name. A body sees the names of the graph around it."""

Operator: TypeAlias = Callable[..., Any]
"""A function of the attributes and the inputs of a node. It returns the output or a tuple of them.
With the attribute ``takes_scope`` it gets the scope after the attributes."""


class OperatorLookup(Protocol):
    """Finds the functions of operators."""

    def find(self, name: str) -> Operator | None:
        """Returns the function of an operator, or None if there is none.

        Args:
            name: The name with its domain, which ONNX's own operators do not have.
        """
        ...


#: Nodes of a model with the bodies of all calls of functions. Calls of calls could make a small
#: file fill the memory.
_MOST_NODES = 1_000_000


@dataclasses.dataclass
class Node:
    """A call of an operator.

    Attributes:
        function: The operator.
        attributes: Its attributes.
        inputs: Names of the inputs; empty for one that is left out.
        outputs: Names of the outputs.
        reads: The inputs, and what bodies of control flow read of the graph around them.
        released: Names of values that no later node of the graph reads.
    """

    function: Operator
    attributes: Attributes
    inputs: list[str]
    outputs: list[str]
    reads: set[str]
    released: tuple[str, ...] = ()


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
        for node in self.nodes:
            inputs = [scope[name] for name in node.inputs]
            if getattr(node.function, "takes_scope", False):
                results = node.function(node.attributes, scope, *inputs)
            else:
                results = node.function(node.attributes, *inputs)
            if not isinstance(results, tuple):
                results = (results,)
            for name, result in zip(node.outputs, results):
                scope[name] = whole(result)
            for name in node.released:
                del scope[name]
            scope[""] = None
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
            if self._count > _MOST_NODES:
                raise ONNXFormatError(f"the model has more than {_MOST_NODES} nodes")
            domain = "" if node.domain == "ai.onnx" else node.domain
            opset = opsets.get(domain, 1)
            bodies: list[Graph] = []

            def compile_graph(graph: Any, bodies: list[Graph] = bodies) -> Graph:
                body = self._body(graph, opsets, references)
                bodies.append(body)
                return body

            attributes = attributes_of(node, opset, compile_graph, references)
            function = self._function_of(node, domain, attributes, opsets)
            if function is None:
                continue
            reads = {*node.input}.union(*[body.reads for body in bodies]) - {""}
            compiled.append(Node(function, attributes, [*node.input], [*node.output], reads))
        return compiled

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
