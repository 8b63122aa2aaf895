"""Python's cyclic garbage collector, held back while a computational graph is being built.

The collector starts whenever some hundreds of new objects are alive, because in most programs some
of them are garbage. A graph that is being built consists of living objects only, about five per
operation. The collector would visit all of them again and again and find nothing. The larger the
graph, the longer an operation would take.

This is done only where Chainer runs the loop: in ``Trainer.run``, in ``Optimizer.update`` with a
loss function, and in captured steps. The configuration entry ``pace_collector`` does it everywhere.
Importing Chainer leaves the collector alone.

The collector is never switched off. Its threshold of the youngest generation is raised if at least
half of the objects made since the last collection belong to graphs, and hardly any were collected.
At first it becomes 16 times as large, so that the graphs of most programs are complete before the
next collection. After that it is doubled each time, so that each object is visited once or twice
however large the graph becomes. Most programs build a graph of the same size again and again. The
second time, the threshold is raised at once to the value that the last graph needed. The user's
threshold is restored as soon as the graph is gone, or when a function is applied after a collection
for which these conditions do not hold.

The collector records its collections in a dictionary, and the next function that is applied decides
what to do. A Python function in ``gc.callbacks`` could decide at once. But signals that arrive
during a collection would be handled in this function, and Python drops exceptions of callbacks:
Ctrl-C would be lost.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Sequence
from typing import Self

from chainer.core.autograd.variable_node import VariableNode
from chainer.core.config.configuration import config
from chainer.core.safe_exit import safe_exit

#: What the last collection did, under the key "stop", until a function is applied after it.
collections: dict[str, dict[str, int]] = {}

#: Objects known to the collector that one operation adds to a graph: function, node of the output,
#: tuple of inputs, weak reference to the variable, and often a tuple of retained arrays.
OBJECTS_PER_NODE = 5
#: Factor by which the user's threshold is raised at first. Garbage then stays until 16 times as
#: many objects are alive, similar to Python's second generation (10 times). 2,000 operations fit.
FIRST_FACTOR = 16


def live_nodes() -> int:
    """Returns the number of variable nodes that are alive, up to a constant.

    Every instance holds a reference to its class. The reference count of the class therefore counts
    the nodes, at no cost per operation. In an interpreter that does not count such references, the
    number does not grow, and the threshold of the collector is never changed.
    """
    return sys.getrefcount(VariableNode)


class CollectorPacing:
    """Raises the threshold of the youngest generation while graphs grow, and restores it."""

    def __init__(self) -> None:
        #: Number of live nodes after the last collection.
        self._nodes = live_nodes()
        #: Number of live nodes when the user's threshold was raised.
        self._nodes_before = self._nodes
        #: The user's threshold and the one set here; None while the former is in force.
        self._thresholds: tuple[int, int] | None = None
        #: Number of objects of the graph that was differentiated last, if it was a large one.
        self._last_graph = 0
        self._watched: weakref.ref[VariableNode] | None = None
        #: Whether :meth:`restore` is running, which a collection may interrupt.
        self._is_restoring = False

    def adapt(self, inputs: Sequence[object]) -> None:
        """Decides, after a collection, when the next one takes place.

        Args:
            inputs: Inputs of the function that is applied now.
        """
        collected = collections.get("stop", {}).get("collected", 0)
        collections.clear()
        if self._is_restoring:
            return
        nodes = live_nodes()
        grown = (nodes - self._nodes) * OBJECTS_PER_NODE
        before, self._nodes = self._nodes, nodes
        threshold = gc.get_threshold()[0]
        tip = _tip_of_graph(inputs)
        if tip is not None and 0 < threshold <= 2 * grown and collected * 10 < threshold:
            self._raise(threshold, before)
            self._watch(tip)
        elif self._thresholds is not None:
            self.restore()

    def _raise(self, threshold: int, nodes: int) -> None:
        """Raises the threshold.

        Args:
            threshold: The threshold that is in force.
            nodes: Number of live nodes after the collection before the last one.
        """
        if self._thresholds is not None and self._thresholds[1] == threshold:
            user, raised = self._thresholds[0], 2 * threshold
        else:
            user, raised = threshold, max(FIRST_FACTOR * threshold, self._last_graph)
            self._nodes_before = nodes
        self._thresholds = user, raised
        gc.set_threshold(raised, *gc.get_threshold()[1:])

    def restore(self) -> None:
        """Puts the user's threshold in force again."""
        self._is_restoring = True
        if self._thresholds is not None:
            user, raised = self._thresholds
            self._thresholds = self._watched = None
            if gc.get_threshold()[0] == raised:  # else the user has set another one meanwhile
                gc.set_threshold(user, *gc.get_threshold()[1:])
        self._is_restoring = False

    def restore_with(self, root: VariableNode) -> None:
        """Restores the threshold when the root of a graph is gone, and most of the graph with it.

        Args:
            root: Node from which a backward pass was run.
        """
        if self._thresholds is not None:
            self._last_graph = (live_nodes() - self._nodes_before) * OBJECTS_PER_NODE
            self._watch(root)

    def _watch(self, node: VariableNode) -> None:
        self._watched = weakref.ref(node, self._restore_after)

    def _restore_after(self, _: object) -> None:
        # The nodes of the graph are about to be destroyed. If they were still counted, the next
        # graph would be noticed only when it is larger than this one.
        self._nodes = min(self._nodes, self._nodes_before)
        self.restore()


def _tip_of_graph(inputs: Sequence[object]) -> VariableNode | None:
    """Returns the newest node of a graph among variables; None if all of them are leaves."""
    # The module of variables imports this one.
    nodes = [getattr(x, "node", None) for x in inputs]
    ranked = [node for node in nodes if isinstance(node, VariableNode) and node.rank]
    return max(ranked, key=lambda node: node.rank, default=None)


pacing = CollectorPacing()

# A method in C: it runs no Python code (see the top of this module).
_note = collections.__setitem__

#: The contexts that are entered, and True if the program has set the configuration entry.
_users: set[object] = set()


def _begin(user: object) -> None:
    _users.add(user)
    if _note not in gc.callbacks:
        gc.callbacks.append(_note)


def _end(user: object) -> None:
    _users.discard(user)
    if not _users:
        while _note in gc.callbacks:  # two threads may have begun at once
            gc.callbacks.remove(_note)
        collections.clear()
        pacing.restore()


class paced_collector:
    """Context in which the collector is held back while graphs grow. It may be nested."""

    __slots__ = ("__weakref__",)

    def __enter__(self) -> Self:
        _begin(self)
        return self

    def _depth(self) -> int:
        return int(self in _users)

    @safe_exit
    def __exit__(self, *_: object) -> None:
        _end(self)


def pace_everywhere(value: object) -> None:
    """Follows the configuration entry ``pace_collector``, for the whole process.

    Args:
        value: The new value.
    """
    if value:
        _begin(True)
    else:
        _end(True)


if config.pace_collector:
    pace_everywhere(True)
