"""Drawing computational graphs (public module ``chainer.computational_graph``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, cast

from chainer.core.autograd import graph_drawing
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.autograd.variable_node import VariableNode

__all__ = ["ComputationalGraph", "build_computational_graph"]

GraphNode: TypeAlias = Variable | VariableNode | FunctionNode
"""A node of a graph, or a variable, which means its node."""

Style: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]] | Literal["default"] | None
"""Attributes of nodes in the DOT language; None for none but the shape."""

VARIABLE_STYLE = {"shape": "octagon", "fillcolor": "#E0E0E0", "style": "filled"}
FUNCTION_STYLE = {"shape": "record", "fillcolor": "#6495ED", "style": "filled"}
_DIRECTIONS = ("TB", "BT", "LR", "RL")

#: A notebook shows no picture of a larger graph: it would be slow, and too large to read.
_MAX_INLINE_NODES = 1000


def _quoted(text: object) -> str:
    """Returns a string of the DOT language."""
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _in_record(text: str) -> str:
    """Escapes what has a meaning in labels of record shapes."""
    return "".join("\\" + c if c in "{}|<>" else c for c in text)


def _label(node: GraphNode, show_name: bool) -> str:
    label = node.label
    if isinstance(node, VariableNode):
        if show_name and node.name is not None:
            label = f"{node.name}: {label}"
        return label
    name = getattr(node, "name", None)
    return f"{name}: {label}" if show_name and isinstance(name, str) else label


def _style(style: Style, default: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a style as release 7 keeps it: what a program gave is read when it is drawn."""
    if isinstance(style, str) and style == "default":
        return dict(default)
    return {} if style is None else cast("Mapping[str, Any]", style)


class ComputationalGraph:
    """Class that represents computational graph.

    The graph is assumed to be directed and acyclic. A notebook shows it as a picture; Graphviz is
    not needed.

    Args:
        nodes (list): List of nodes. Each node is either a :class:`~chainer.variable.VariableNode`
            object or a :class:`~chainer.FunctionNode` object.
        edges (list): List of edges. Each edge consists of a pair of nodes.

    The other arguments are documented in :func:`build_computational_graph`.

    Raises:
        ValueError: If ``rankdir`` is unknown.

    Example:
        >>> from chainer.computational_graph import build_computational_graph
        >>> x = chainer.Variable(np.zeros((2, 3), np.float32), name="x")
        >>> graph = build_computational_graph(F.relu(x))
        >>> [node.label for node in graph.nodes]
        ['(2, 3), float32', 'ReLU', '(2, 3), float32']
        >>> graph.dump("svg")[:4]
        '<svg'
    """

    def __init__(
        self,
        nodes: Iterable[GraphNode],
        edges: Iterable[tuple[GraphNode, GraphNode]],
        variable_style: Style = "default",
        function_style: Style = "default",
        rankdir: str = "TB",
        remove_variable: bool = False,
        show_name: bool = True,
    ) -> None:
        if rankdir not in _DIRECTIONS:
            raise ValueError(f"rankdir must be one of {', '.join(_DIRECTIONS)}, got {rankdir!r}")
        self.nodes = list(nodes)
        self.edges = list(edges)
        self.variable_style = _style(variable_style, VARIABLE_STYLE)
        self.function_style = _style(function_style, FUNCTION_STYLE)
        self.rankdir = rankdir
        self.remove_variable = remove_variable
        self.show_name = show_name

    def _shown(self) -> tuple[list[GraphNode], list[tuple[GraphNode, GraphNode]]]:
        """Returns the nodes and edges of pictures and texts. Both lists are complete otherwise."""
        if self.remove_variable:
            return _without_variables(self.nodes, self.edges)
        return self.nodes, self.edges

    def __repr__(self) -> str:
        nodes, edges = self._shown()
        counts = f"{len(nodes)} nodes and {len(edges)} edges"
        return f"<{type(self).__name__} of {counts}>"

    def _style_of(self, node: GraphNode) -> dict[str, Any]:
        if isinstance(node, VariableNode):
            return {"shape": "oval", **dict(self.variable_style)}
        return {"shape": "box", **dict(self.function_style)}

    def _to_svg(self) -> str:
        nodes, edges = self._shown()
        numbers = {id(node): index for index, node in enumerate(nodes)}
        shapes = [
            graph_drawing.Shape(str(style.pop("label", _label(node, self.show_name))), style)
            for node, style in ((node, self._style_of(node)) for node in nodes)
        ]
        pairs = [(numbers[id(head)], numbers[id(tail)]) for head, tail in edges]
        return graph_drawing.draw(shapes, pairs, self.rankdir)

    def _repr_svg_(self) -> str | None:
        # Shown by notebooks.
        return self._to_svg() if len(self._shown()[0]) <= _MAX_INLINE_NODES else None

    def _to_dot(self) -> str:
        # Numbers in order of appearance: the same graph gives the same text in every run.
        nodes, edges = self._shown()
        numbers = {id(node): index for index, node in enumerate(nodes)}
        statements: list[str] = []
        for node in nodes:
            style = self._style_of(node)
            # A style may have a label of its own, which takes the place of the usual one.
            shown = style.pop("label", None)
            # In a record, DOT gives a meaning to braces and other characters of a label.
            label = _quoted(_label(node, self.show_name) if shown is None else shown)
            if str(style.get("shape", "")).lower() in ("record", "mrecord"):
                label = _in_record(label)
            attributes = [f"label={label}"]
            attributes += [f"{key}={_quoted(value)}" for key, value in style.items()]
            statements.append(f"{numbers[id(node)]} [{','.join(attributes)}]")
        for head, tail in edges:
            statements.append(f"{numbers[id(head)]} -> {numbers[id(tail)]}")
        body = "".join(f"{statement};" for statement in statements)
        # All in one line: programs look at the beginning and the end of the text.
        return f"digraph graphname{{rankdir={self.rankdir};{body}}}"

    def dump(self, format: str = "dot") -> str:
        """Dumps graph as a text.

        Args:
            format (str): ``'dot'`` for the language of Graphviz, ``'svg'`` for a picture.

        Returns:
            str: The graph in specified format.

        Raises:
            NotImplementedError: If the format is unknown.
        """
        if format == "dot":
            return self._to_dot()
        if format == "svg":
            return self._to_svg()
        raise NotImplementedError(
            f"Currently, only 'dot' format and 'svg' format are supported, got {format!r}."
        )


def _without_variables(
    nodes: list[Any], edges: list[tuple[Any, Any]]
) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Connects functions directly, leaving out the variables between them."""
    producers: dict[int, list[Any]] = {}
    for head, tail in edges:
        if isinstance(tail, VariableNode):
            producers.setdefault(id(tail), []).append(head)
    # A variable connects its producer with each function that uses it.
    functions = [node for node in nodes if not isinstance(node, VariableNode)]
    direct: dict[tuple[int, int], tuple[Any, Any]] = {}
    for head, tail in edges:
        if isinstance(head, VariableNode):
            for producer in producers.get(id(head), ()):
                direct[id(producer), id(tail)] = (producer, tail)
    return functions, list(direct.values())


def build_computational_graph(
    outputs: GraphNode | Iterable[GraphNode],
    remove_split: bool = True,
    variable_style: Style = "default",
    function_style: Style = "default",
    rankdir: str = "TB",
    remove_variable: bool = False,
    show_name: bool = True,
) -> ComputationalGraph:
    """Builds a graph of functions and variables backward-reachable from outputs.

    Where ``unchain_backward`` was called, the walk stops.

    Args:
        outputs (list): Nodes from which the graph is constructed; a single one need not be in a
            list. Each must be either a :class:`~chainer.Variable`, a
            :class:`~chainer.variable.VariableNode`, a :class:`~chainer.FunctionNode` or a
            :class:`~chainer.Function` object.
        remove_split (bool): It must be True. This argument is left for backward compatibility.
        variable_style (dict): Dot node style for variables. Possible keys are 'shape', 'color',
            'fillcolor', 'style', and so on. ``'default'`` means gray octagons, None plain ovals.
        function_style (dict): Dot node style for functions. ``'default'`` means blue records, None
            plain boxes.
        rankdir (str): Direction of the graph that must be TB (top to bottom), BT (bottom to top),
            LR (left to right) or RL (right to left).
        remove_variable (bool): If True, variable nodes are removed from the resulting computational
            graph. Only function nodes are shown in the output.
        show_name (bool): If True, the ``name`` attribute of each node is added to the label of the
            node. Default is True.

    Returns:
        ComputationalGraph: A graph consisting of nodes and edges that are backward-reachable from
            at least one of ``outputs``.

        For example, suppose that the computational graph is as follows::

                |--> f ---> y
            x --+
                |--> g ---> z

        With ``outputs = [y, z]`` the full graph is emitted. With ``outputs = [y]`` ``z`` and ``g``
        are not reachable, and the result is ``x ---> f ---> y``.

    Raises:
        ValueError: If ``remove_split`` is False.
        TypeError: If an output is none of the above.

    Example:
        >>> from chainer.computational_graph import build_computational_graph
        >>> x = chainer.Variable(np.zeros((2, 3), np.float32), name='x')
        >>> text = build_computational_graph([x * 2], variable_style=None,
        ...                                  function_style=None).dump()
        >>> print(text.replace(';', ';\\n'))
        digraph graphname{rankdir=TB;
        0 [label="(2, 3), float32",shape="oval"];
        1 [label="_ * 2",shape="box"];
        2 [label="x: (2, 3), float32",shape="oval"];
        1 -> 0;
        2 -> 1;
        }

        As the last line of a cell of a notebook, the graph itself is shown as a picture. A program
        writes the picture to a file:

        >>> picture = build_computational_graph(x * 2).dump('svg')
        >>> picture[:4], picture.count('<rect')
        ('<svg', 3)
    """
    if not remove_split:
        raise ValueError("remove_split=False is not supported anymore")
    nodes: dict[int, Any] = {}
    edges: dict[tuple[int, int], tuple[Any, Any]] = {}
    pending: list[Any] = []

    def visit(node: GraphNode) -> None:
        if id(node) not in nodes:
            nodes[id(node)] = node
            pending.append(node)

    # A Variable is iterable itself: over its elements, which would be other outputs.
    if isinstance(outputs, (Variable, VariableNode, FunctionNode)):
        outputs = [outputs]
    for output in outputs:
        if isinstance(output, Variable):
            output = output.node
        visit(cast("GraphNode", getattr(output, "node", output)))
    for node in nodes.values():
        if not isinstance(node, VariableNode) and not hasattr(node, "inputs"):
            raise TypeError(
                "outputs must hold variables, variable nodes and function nodes, got "
                f"{type(node).__name__}"
            )
    # Breadth first, without recursion: a graph may be deeper than Python's stack.
    while pending:
        node = pending.pop(0)
        if isinstance(node, VariableNode):
            sources = [] if node.creator_node is None else [node.creator_node]
        else:
            sources = list(node.inputs or ())
        for source in sources:
            visit(source)
            edges[id(source), id(node)] = (source, node)
    return ComputationalGraph(
        nodes.values(),
        edges.values(),
        variable_style,
        function_style,
        rankdir,
        remove_variable,
        show_name,
    )
