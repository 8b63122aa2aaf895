"""Optimizations of graphs that stay the same (``chainer.graph_optimizations``).

``chainer.graph_optimizations.static_graph`` is a module; the decorator of that name is
``chainer.static_graph``.
"""

from chainer.graph_optimizations import static_graph, static_graph_utilities
from chainer.graph_optimizations.static_graph_utilities import static_code

__all__ = ["static_code", "static_graph", "static_graph_utilities"]
