"""Statistics that a file shares with weights.

PyTorch's exporter writes equal arrays once, and passes them on by Identity. In a model that was not
trained the running means of a normalization are the zeros of its bias, for example. Training, which
changes statistics in place, would then change the bias too.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from onnx_chainer.importing.declarations import changed_inputs
from onnx_chainer.importing.graph import Graph, Node


def with_own_statistics(graph: Graph, arrays: dict[str, Any]) -> Graph:
    """Returns a graph in which inputs that operators change are arrays of their own.

    Args:
        graph: The compiled graph.
        arrays: The initializers by name. Copies of shared ones are added.
    """
    sources = {
        node.outputs[0]: node.inputs[0]
        for node in graph.nodes
        if node.attributes.operator == "Identity" and node.inputs[0] in arrays
    }
    users = Counter([name for node in graph.nodes for name in node.inputs])
    nodes: list[Node] = []
    for node in graph.nodes:
        inputs = list(node.inputs)
        for index in changed_inputs(node.function, len(inputs)):
            name = inputs[index]
            source = sources.get(name, name)
            if source in arrays and (name != source or users[name] > 1):
                inputs[index] = _free_name(f"{name}_of_{node.name}", arrays)
                arrays[inputs[index]] = arrays[source].copy()
        if inputs != node.inputs:
            reads = (node.reads - {*node.inputs}) | ({*inputs} - {""})
            node = dataclasses.replace(node, inputs=inputs, reads=reads)
        nodes.append(node)
    return Graph(nodes, graph.inputs, graph.outputs, graph.constants)


def _free_name(base: str, arrays: dict[str, Any]) -> str:
    name, count = base, 0
    while name in arrays:
        count += 1
        name = f"{base}_{count}"
    return name
