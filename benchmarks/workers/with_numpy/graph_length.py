"""The same graph by hand: what allocating equal objects, and visiting them, takes by itself

No framework is at work: a step makes the objects that two operations of Chainer leave in memory, of
the same number and size, and the arrays, and calls NumPy as often. What grows here with the length
of the graph (memory from the operating system, and memory that is in no cache any more) grows in
every framework whose operations are objects of Python. The collector is off here.
"""

from __future__ import annotations

import gc
import time
import weakref

import numpy as np
from bench_case import Case

UNIT = "us"
MEASURED = True
LENGTHS = (100, 1_000, 10_000, 100_000, 300_000)
STEPS_PER_SAMPLE = 20_000
#: Indexes of the inputs, by their number, and the signature that all nodes share.
INDEXES = ((), (0,), (0, 1))
SIGNATURE = (np.dtype(np.float32), (4, 4))

_new = object.__new__
_ref = weakref.ref


class Variable:
    __slots__ = ("__weakref__", "array", "grad", "grad_var", "node", "requires_grad")


class Node:
    __slots__ = (
        "__weakref__",
        "creator",
        "data",
        "marks",
        "name",
        "rank",
        "type",
        "variable",
    )


class Function:
    retained = None


class Tanh(Function):
    pass


class Add(Function):
    pass


def apply(kind, array, nodes, rank):
    """Makes the objects of one operation and returns its variable."""
    function = kind()
    function.inputs = nodes
    function.targets = INDEXES[len(nodes)]
    variable = _new(Variable)
    variable.array = array
    variable.grad = variable.grad_var = None
    variable.requires_grad = True
    node = variable.node = _new(Node)
    node.variable = function.output = _ref(variable)
    node.creator = function
    node.rank = rank
    node.marks = 0
    node.data = node.name = None
    node.type = SIGNATURE
    return variable


def graphs(length):
    """Returns the preparation of the case with graphs of that many steps."""

    def prepare():
        x = Variable()
        x.array = np.asarray(np.random.RandomState(0).randn(4, 4), np.float32)
        x.node = Node()
        seed = np.ones((4, 4), np.float32)
        gradient = []

        def forward():
            y, rank = x, 0
            for _ in range(length):
                array = np.tanh(y.array)
                y = apply(Tanh, array, (y.node,), rank + 1)
                y.node.data = array
                y.node.creator.retained = (array,)
                rank += 2
                y = apply(Add, array + x.array, (y.node, x.node), rank)
            return y

        def both():
            node, gy = forward().node, seed
            gx = np.zeros((4, 4), np.float32)
            while node is not x.node:
                function = node.creator
                if type(function) is Tanh:
                    (array,) = function.retained
                    product = array * array
                    product *= gy
                    gy = gy - product
                else:
                    gx += gy
                node = function.inputs[0]
            gradient[:] = [gx + gy]

        return Case(
            [
                ("forward", lambda *_: seconds_per_operation(forward, length)),
                ("forward and backward", lambda *_: seconds_per_operation(both, length)),
            ],
            lambda: gradient[0].ravel(),
        )

    return prepare


def seconds_per_operation(run, length):
    """Returns the time of a graph of that many steps, each of two operations, per operation."""
    repeats = max(1, STEPS_PER_SAMPLE // length)
    gc.disable()
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    elapsed = time.perf_counter() - start
    gc.enable()
    return elapsed / (2 * length * repeats)


CASES = {"{:,} steps".format(length): graphs(length) for length in LENGTHS}
