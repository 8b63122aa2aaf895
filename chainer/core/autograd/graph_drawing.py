"""Pictures of computational graphs as SVG, without other programs.

The layout is the one of Sugiyama, Tagawa and Toda (1981): layers, the order within a layer,
positions. Edges that pass a layer have an invisible place in it, so that no edge crosses a node.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

#: Width of a character in a monospace font of 12 pixels, a little more than it has anywhere.
_CHARACTER = 7.4
_HEIGHT = 26.0
_PADDING = 14.0
#: Pixels between neighbors in a layer, and between layers.
_GAP, _LAYER_GAP = 18.0, 30.0
#: Passes over all layers. The order hardly changes after the first four.
_SWEEPS = 6


@dataclass
class Shape:
    """How a node is drawn.

    Attributes:
        label: Text in it.
        style: Attributes as the DOT language has them: ``shape``, ``fillcolor``, ``color``.
    """

    label: str
    style: Mapping[str, object]

    @property
    def width(self) -> float:
        """Width in pixels."""
        return max(len(line) for line in self.label.split("\n")) * _CHARACTER + 2 * _PADDING


def draw(shapes: Sequence[Shape], edges: Sequence[tuple[int, int]], direction: str) -> str:
    """Returns a picture of a directed graph without circles.

    Args:
        shapes: The nodes.
        edges: Pairs of indexes of nodes, from and to.
        direction: ``'TB'``, ``'BT'``, ``'LR'`` or ``'RL'``: where edges point to.
    """
    if not shapes:
        return _svg([], 1.0, 1.0, "an empty graph")
    sideways = direction in ("LR", "RL")
    layers = _layers(len(shapes), edges)
    grid = _Grid([_HEIGHT if sideways else shape.width for shape in shapes], layers, edges)
    # How long a layer is in the direction of the edges.
    thickness = max(shape.width for shape in shapes) if sideways else _HEIGHT
    step = thickness + _LAYER_GAP
    across, along = grid.arrange(), (max(layers) * step + thickness)

    def place(index: int) -> tuple[float, float]:
        depth = grid.layer[index] * step + thickness / 2
        if direction in ("BT", "RL"):
            depth = along - depth
        return (depth, across[index]) if sideways else (across[index], depth)

    half = [shape.width / 2 if sideways else _HEIGHT / 2 for shape in shapes]
    parts = [
        _edge([place(index) for index in path], half[path[0]], half[path[-1]], sideways)
        for path in grid.paths
    ]
    parts += [_node(shape, *place(index)) for index, shape in enumerate(shapes)]
    size = (along, grid.length) if sideways else (grid.length, along)
    return _svg(parts, *size, f"a computational graph of {len(shapes)} nodes")


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the layer of each node: each edge leads to a later layer."""
    after: dict[int, list[int]] = defaultdict(list)
    waiting = [0] * count
    for head, tail in edges:
        after[head].append(tail)
        waiting[tail] += 1
    layers = [0] * count
    order = [index for index in range(count) if not waiting[index]]
    for index in order:  # grows
        for tail in after[index]:
            layers[tail] = max(layers[tail], layers[index] + 1)
            waiting[tail] -= 1
            if not waiting[tail]:
                order.append(tail)
    # Parameters stand right before the function that uses them, not all in the first layer.
    heads = {tail for _, tail in edges}
    for index in range(count):
        if index not in heads and after[index]:
            layers[index] = min(layers[tail] for tail in after[index]) - 1
    return layers


class _Grid:
    """Nodes, and the places where long edges pass a layer, in layers."""

    def __init__(
        self, lengths: list[float], layers: list[int], edges: Sequence[tuple[int, int]]
    ) -> None:
        self.lengths = list(lengths)
        self.layer = list(layers)
        self.paths: list[list[int]] = []
        self.before: dict[int, list[int]] = defaultdict(list)
        self.after: dict[int, list[int]] = defaultdict(list)
        for head, tail in edges:
            path = [head]
            for layer in range(layers[head] + 1, layers[tail]):
                path.append(len(self.layer))
                self.layer.append(layer)
                self.lengths.append(0.0)
            path.append(tail)
            self.paths.append(path)
            for one, next_one in itertools.pairwise(path):
                self.after[one].append(next_one)
                self.before[next_one].append(one)
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer) + 1)]
        for index, layer in enumerate(self.layer):
            self.rows[layer].append(index)
        self.length = 0.0

    def arrange(self) -> list[float]:
        """Returns the position of each node across the layers; sets ``length``."""
        middle = [0.0] * len(self.layer)
        for row in self.rows:
            self._spread(row, middle, [0.0] * len(row))
        for sweep in range(_SWEEPS):
            forward = sweep % 2 == 0
            neighbors = self.before if forward else self.after
            for row in self.rows if forward else reversed(self.rows):
                # Each node wishes to stand in the middle of its neighbors.
                wishes = {
                    index: sum(middle[other] for other in neighbors[index]) / len(neighbors[index])
                    if neighbors[index]
                    else middle[index]
                    for index in row
                }
                row.sort(key=lambda index: wishes[index])
                self._spread(row, middle, [wishes[index] for index in row])
        left = min(at - length / 2 for at, length in zip(middle, self.lengths, strict=True))
        right = max(at + length / 2 for at, length in zip(middle, self.lengths, strict=True))
        self.length = right - left
        return [at - left for at in middle]

    def _spread(self, row: list[int], middle: list[float], wishes: list[float]) -> None:
        """Sets the positions of a row, near the wishes and without overlaps."""
        end = float("-inf")
        moved = 0.0
        for index, wish in zip(row, wishes, strict=True):
            middle[index] = max(wish, end + self.lengths[index] / 2)
            end = middle[index] + self.lengths[index] / 2 + _GAP
            moved += middle[index] - wish
        # All were moved in one direction: the row goes back by the mean.
        for index in row:
            middle[index] -= moved / max(len(row), 1)


def _edge(points: list[tuple[float, float]], first: float, last: float, sideways: bool) -> str:
    """Returns a curve through points.

    Args:
        points: Middles of the nodes at the ends, and the places between them.
        first, last: Distances from the middles of these nodes to their borders.
        sideways: Whether layers are columns.
    """

    def moved(
        point: tuple[float, float], other: tuple[float, float], half: float
    ) -> tuple[float, float]:
        axis = 0 if sideways else 1
        sign = 1 if other[axis] > point[axis] else -1
        return (
            (point[0] + sign * half, point[1]) if sideways else (point[0], point[1] + sign * half)
        )

    begin, end = moved(points[0], points[1], first), moved(points[-1], points[-2], last)
    points = [begin, *points[1:-1], end]
    text = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if sideways:
            middle = (x0 + x1) / 2
            text += f"C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
        else:
            middle = (y0 + y1) / 2
            text += f"C{x0:.1f},{middle:.1f} {x1:.1f},{middle:.1f} {x1:.1f},{y1:.1f}"
    return f'<path d="{text}" fill="none" stroke="#888" marker-end="url(#chainer-arrow)"/>'


def _node(shape: Shape, x: float, y: float) -> str:
    style = shape.style
    filled = "filled" in str(style.get("style", ""))
    fill = escape(str(style.get("fillcolor", "#fff") if filled else "#fff"), quote=True)
    line = escape(str(style.get("color", "#555")), quote=True)
    # Ovals and octagons are variables: round ends.
    is_round = str(style.get("shape", "")) in ("oval", "ellipse", "octagon", "circle")
    left, top = x - shape.width / 2, y - _HEIGHT / 2
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{shape.width:.1f}" height="{_HEIGHT:.0f}" '
        f'rx="{_HEIGHT / 2 if is_round else 3:.0f}" fill="{fill}" stroke="{line}"/>'
        f'<text x="{x:.1f}" y="{y + 4:.1f}" fill="#000">{escape(shape.label)}</text>'
    )


def _svg(parts: list[str], width: float, height: float, title: str) -> str:
    # Two pixels on each side for the lines of the outermost nodes.
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width + 4:.0f}" '
        f'height="{height + 4:.0f}" viewBox="-2 -2 {width + 4:.0f} {height + 4:.0f}" '
        'style="max-width: 100%; height: auto" font-family="monospace" font-size="12" '
        'text-anchor="middle">'
        f"<title>{escape(title)}</title>"
        '<defs><marker id="chainer-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8z" fill="#888"/></marker></defs>'
        f"{''.join(parts)}</svg>"
    )
