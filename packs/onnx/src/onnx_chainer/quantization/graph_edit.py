"""Changes of a graph of ONNX."""

from __future__ import annotations

from typing import Any

import numpy

from onnx_chainer.optional import require


def attribute_of(node: Any, name: str, default: float) -> float:
    """Returns a number that is an attribute of a node, or the default of the operator."""
    onnx = require("onnx")
    found = [a for a in node.attribute if a.name == name]
    return onnx.helper.get_attribute_value(found[0]) if found else default


def channel_axis(node: Any, ndim: int) -> int | None:
    """Returns the axis of the output channels of a weight; None if there is one scale for all.

    Args:
        node (onnx.NodeProto): The operator.
        ndim: Number of axes of the weight.
    """
    if node.op_type == "Conv":
        return 0
    if node.op_type == "ConvTranspose":
        # The second axis has the channels of one group.
        return 1 if attribute_of(node, "group", 1) == 1 else None
    if node.op_type == "Gemm":
        return 0 if attribute_of(node, "transB", 0) else 1
    # A vector has no channels, and matrices of a batch have no common ones.
    return 1 if ndim == 2 else None


class GraphEdit:
    """A graph that is changed.

    Args:
        proto (onnx.ModelProto): The model, which is changed in place.

    Attributes:
        proto: The model.
        weights: The initializers as arrays, by name.
    """

    def __init__(self, proto: Any) -> None:
        self.proto = proto
        to_array = require("onnx").numpy_helper.to_array
        self.weights: dict[str, Any] = {t.name: to_array(t) for t in proto.graph.initializer}
        self._names = {*self.weights, *[x.name for x in proto.graph.input]}
        for node in proto.graph.node:
            self._names |= {node.name, *node.input, *node.output}

    @property
    def nodes(self) -> Any:
        """The nodes of the graph."""
        return self.proto.graph.node

    @property
    def outputs(self) -> set[str]:
        """The names of the outputs of the graph."""
        return {y.name for y in self.proto.graph.output}

    def readers(self) -> dict[str, list[Any]]:
        """Returns the nodes that read each value."""
        found: dict[str, list[Any]] = {}
        for node in self.nodes:
            for name in node.input:
                found.setdefault(name, []).append(node)
        return found

    def free_name(self, base: str) -> str:
        """Returns a name that no value and no node has, and keeps it.

        Args:
            base: The name if it is free; else a number is appended.
        """
        name, count = base, 0
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name

    def add_weight(self, base: str, array: Any) -> str:
        """Adds an initializer and returns its name."""
        name = self.free_name(base)
        self.set_weight(name, numpy.asarray(array))
        return name

    def set_weight(self, name: str, array: Any) -> None:
        """Sets the value of an initializer, which is added if it is new."""
        tensor = require("onnx").numpy_helper.from_array(numpy.ascontiguousarray(array), name)
        # ascontiguousarray makes a scalar a vector of one element.
        tensor.dims[:] = array.shape
        for old in self.proto.graph.initializer:
            if old.name == name:
                old.CopyFrom(tensor)
                break
        else:
            self.proto.graph.initializer.append(tensor)
        self.weights[name] = array

    def replace_nodes(self, nodes: list[Any]) -> None:
        """Replaces all nodes, and removes initializers that none of them reads."""
        del self.nodes[:]
        self.nodes.extend(nodes)
        used = self.outputs.union(*[{*node.input} for node in nodes])
        # Bodies of control flow read initializers too: they stay if there are such bodies.
        if any([a.HasField("g") or a.graphs for node in nodes for a in node.attribute]):
            return
        kept = [t for t in self.proto.graph.initializer if t.name in used]
        removed = [t.name for t in self.proto.graph.initializer if t.name not in used]
        del self.proto.graph.initializer[:]
        self.proto.graph.initializer.extend(kept)
        for name in removed:
            del self.weights[name]
