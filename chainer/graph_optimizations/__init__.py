"""Optimizations of graphs that stay the same (``chainer.graph_optimizations``).

``chainer.graph_optimizations.static_graph`` is a module; the decorator of that name is
``chainer.static_graph``.
"""

from typing import TYPE_CHECKING

from chainer.core.lazy import lazy_module

if TYPE_CHECKING:
    from chainer.graph_optimizations import static_graph, static_graph_utilities
    from chainer.graph_optimizations.static_graph_utilities import static_code

__all__ = ["static_code", "static_graph", "static_graph_utilities"]

# Imported at first use. A package that imports its modules can be stopped by a thread that imports
# one of them at the same time, see chainer.core.imports.
_NAMES: dict[str, str] = {
    "static_code": ".static_graph_utilities",
}

__getattr__, __dir__ = lazy_module(
    globals(), _NAMES, submodules=("static_graph", "static_graph_utilities")
)
