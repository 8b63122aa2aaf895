from __future__ import annotations

import re

import numpy as np
import pytest

from chainer.core.autograd.computational_graph import ComputationalGraph, build_computational_graph
from chainer.core.autograd.function import Function
from chainer.core.autograd.variable import Variable


class TwoOutputs(Function):
    label = "two {outputs}"

    def forward(self, inputs):
        return inputs[0] + 1, inputs[0] + 2

    def backward(self, inputs, grads):
        return (grads[0] + grads[1],)


def make():
    x = Variable(np.zeros((2, 3), np.float32), name="x")
    y = x * 2 + x
    y.name = "y"
    return x, y


def labels(text):
    return [line.split('"')[1] for line in text.split(";") if "label" in line]


def edges(text):
    names = {}
    found = set()
    for line in text.removesuffix("}").split(";"):
        if "label" in line:
            names[line.split()[0]] = line.split('"')[1]
        elif "->" in line:
            head, tail = line.strip(" ;").split(" -> ")
            found.add((names[head], names[tail]))
    return found


def test_nodes_and_edges():
    _, y = make()
    graph = build_computational_graph([y])
    text = graph.dump()
    assert sorted(labels(text)) == [
        "(2, 3), float32", "_ + _", "_ * 2", "x: (2, 3), float32", "y: (2, 3), float32",
    ] or sorted(labels(text)) == [
        "(2, 3), float32", "_ * 2", "_ + _", "x: (2, 3), float32", "y: (2, 3), float32",
    ]  # fmt: skip
    assert edges(text) == {
        ("x: (2, 3), float32", "_ * 2"),
        ("_ * 2", "(2, 3), float32"),
        ("(2, 3), float32", "_ + _"),
        ("x: (2, 3), float32", "_ + _"),
        ("_ + _", "y: (2, 3), float32"),
    }
    assert (len(graph.nodes), len(graph.edges)) == (5, 5)
    assert re.fullmatch(r"digraph graphname\{rankdir=TB;(\d+ \[[^]]*\];)+(\d+ -> \d+;)+\}", text)


def test_only_what_is_reachable():
    x = Variable(np.zeros(1, np.float32))
    y, z = x * 2, x * 3
    assert "_ * 3" not in labels(build_computational_graph([y]).dump())
    assert {"_ * 2", "_ * 3"} <= set(labels(build_computational_graph([y, z]).dump()))


def test_stops_where_the_graph_was_cut():
    _, y = make()
    middle = y * 1
    y.unchain_backward()
    assert len(build_computational_graph([middle]).nodes) == 3


def test_same_text_for_the_same_graph():
    first, second = make()[1], make()[1]
    assert build_computational_graph([first]).dump() == build_computational_graph([second]).dump()


def test_styles():
    _, y = make()
    text = build_computational_graph([y], rankdir="LR").dump()
    assert "rankdir=LR" in text
    assert '[label="_ + _",shape="record",fillcolor="#6495ED",style="filled"]' in text
    assert 'float32",shape="octagon",fillcolor="#E0E0E0",style="filled"]' in text
    text = build_computational_graph([y], variable_style=None, function_style=None).dump()
    assert '[label="_ + _",shape="box"]' in text
    assert 'float32",shape="oval"]' in text
    text = build_computational_graph(
        [y], variable_style={}, function_style={"color": 'a"b', "width": 2}, show_name=False
    ).dump()
    assert '[label="_ + _",shape="box",color="a\\"b",width="2"]' in text
    assert "x:" not in text


def test_styles_of_release_7():
    _, y = make()
    graph = build_computational_graph([y], variable_style="default", function_style=None)
    assert graph.variable_style == {"shape": "octagon", "fillcolor": "#E0E0E0", "style": "filled"}
    assert graph.function_style == {}
    # Kept as given: some tools store something else here and draw the graph themselves.
    assert build_computational_graph([y], variable_style="TB").variable_style == "TB"
    text = build_computational_graph([y], variable_style=[("color", "red")]).dump()
    assert 'float32",shape="oval",color="red"]' in text


def test_without_variables():
    _, y = make()
    graph = build_computational_graph([y], remove_variable=True)
    assert edges(graph.dump()) == {("_ * 2", "_ + _")}
    # The lists are complete, as in release 7.8.1: only texts and pictures leave variables out.
    whole = build_computational_graph([y])
    assert {id(node) for node in graph.nodes} == {id(node) for node in whole.nodes}
    assert len(graph.edges) == len(whole.edges) > 1
    assert "2 nodes and 1 edges" in repr(graph)
    assert "float32" not in graph.dump("svg")


def test_functions_with_several_outputs_and_special_characters():
    a, b = TwoOutputs()(Variable(np.zeros(1, np.float32)))
    text = build_computational_graph([a + b]).dump()
    assert 'label="two \\{outputs\\}",shape="record"' in text
    assert text.count("two \\{outputs\\}") == 1


@pytest.mark.parametrize("pick", [lambda y: y, lambda y: y.node, lambda y: y.creator_node])
def test_kinds_of_outputs(pick):
    _, y = make()
    assert "_ + _" in labels(build_computational_graph([pick(y)]).dump())


def test_scalar_and_uninitialized():
    assert labels(build_computational_graph([Variable(np.zeros((), "f"))]).dump()) == ["float32"]
    assert labels(build_computational_graph([Variable(None)]).dump()) == ["(uninitialized)"]


def test_graph_of_given_nodes():
    x, y = make()
    function = y.creator_node
    graph = ComputationalGraph([x.node, function], [(x.node, function)])
    assert edges(graph.dump()) == {("x: (2, 3), float32", "_ + _")}


def test_mistakes():
    _, y = make()
    with pytest.raises(ValueError, match="remove_split=False is not supported anymore"):
        build_computational_graph([y], remove_split=False)
    with pytest.raises(ValueError, match="rankdir must be one of TB, BT, LR, RL, got 'XX'"):
        build_computational_graph([y], rankdir="XX")
    with pytest.raises(NotImplementedError, match="only 'dot' format"):
        build_computational_graph([y]).dump("png")
    with pytest.raises(TypeError, match="got int"):
        build_computational_graph([3])
