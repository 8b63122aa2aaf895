"""Pictures of computational graphs."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.computational_graph import build_computational_graph
from chainer.core.autograd import computational_graph

SVG = "{http://www.w3.org/2000/svg}"


def boxes_of(picture):
    """Returns (left, top, right, bottom) of each node, and the size of the picture."""
    root = ET.fromstring(picture)
    boxes = []
    for rect in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        boxes.append((x, y, x + width, y + height))
    return boxes, float(root.get("width")), float(root.get("height"))


def a_graph():
    x = chainer.Variable(np.zeros((2, 3), np.float32), name="x")
    a = F.tanh(x)
    return F.sigmoid(a * x) + a + F.exp(x)


@pytest.mark.parametrize("direction", ["TB", "BT", "LR", "RL"])
def test_nodes_do_not_overlap(direction):
    graph = build_computational_graph(a_graph(), rankdir=direction)
    boxes, width, height = boxes_of(graph.dump("svg"))
    assert len(boxes) == len(graph.nodes) == 13
    for index, (left, top, right, bottom) in enumerate(boxes):
        assert -1 <= left < right <= width and -1 <= top < bottom <= height
        for other in boxes[:index]:
            apart = left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]
            assert apart, (boxes[index], other)


@pytest.mark.parametrize(
    ("direction", "axis", "sign"), [("TB", 1, 1), ("BT", 1, -1), ("LR", 0, 1), ("RL", 0, -1)]
)
def test_edges_point_in_the_direction(direction, axis, sign):
    graph = build_computational_graph(a_graph(), rankdir=direction)
    boxes, _, _ = boxes_of(graph.dump("svg"))
    numbers = {id(node): index for index, node in enumerate(graph.nodes)}
    for head, tail in graph.edges:
        difference = boxes[numbers[id(tail)]][axis] - boxes[numbers[id(head)]][axis]
        # Nodes of a column have different widths, and the same middle.
        assert sign * difference > 0


def test_edges_begin_and_end_at_nodes():
    graph = build_computational_graph(a_graph())
    picture = graph.dump("svg")
    boxes, _, _ = boxes_of(picture)
    paths = re.findall(r'<path d="M([-\d.]+),([-\d.]+)C[^"]* ([-\d.]+),([-\d.]+)" fill', picture)
    assert len(paths) == len(graph.edges)
    for (head, tail), points in zip(graph.edges, paths, strict=True):
        x0, y0, x1, y1 = map(float, points)
        box, other = boxes[graph.nodes.index(head)], boxes[graph.nodes.index(tail)]
        assert abs(x0 - (box[0] + box[2]) / 2) < 0.2 and abs(y0 - box[3]) < 0.2
        assert abs(x1 - (other[0] + other[2]) / 2) < 0.2 and abs(y1 - other[1]) < 0.2


def test_names_and_styles():
    x = chainer.Variable(np.zeros(2, np.float32), name="<script>&")
    picture = build_computational_graph(
        x + 1, variable_style={"style": "filled", "fillcolor": "red"}
    )
    svg = picture._repr_svg_()
    assert "&lt;script&gt;&amp;: (2), float32" in svg and "<script>" not in svg
    assert svg.count('fill="red"') == 2 and svg.count('fill="#6495ED"') == 1


def test_deep_and_large_graphs(monkeypatch):
    y = chainer.Variable(np.zeros(1, np.float32))
    for _ in range(300):
        y = y + 1
    boxes, _, height = boxes_of(build_computational_graph(y).dump("svg"))
    assert len(boxes) == 601 and height > 600 * 50
    monkeypatch.setattr(computational_graph, "_MAX_INLINE_NODES", 600)
    graph = build_computational_graph(y)
    assert graph._repr_svg_() is None and graph.dump("svg").startswith("<svg")


def test_empty_graph():
    assert boxes_of(computational_graph.ComputationalGraph([], []).dump("svg"))[0] == []
