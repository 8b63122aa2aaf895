"""Steps and chains that are recorded: ``chainer.capture`` and ``chainer.static_graph``.

``chainer.graph_optimizations``, the package of the static chains of release 5, is this package.
``chainer.graph_optimizations.static_graph`` is a module; the decorator of that name is
``chainer.static_graph``.
"""

from chainer.training.capturing import static_graph, static_graph_utilities
from chainer.training.capturing.static_graph_utilities import static_code

__all__ = ["static_code", "static_graph", "static_graph_utilities"]
