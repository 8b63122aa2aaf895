"""Limits of the work and memory that a model may ask for.

A small file can describe arrays that no memory holds, and loops without an end. Each limit is a
variable of this module. A program that needs more sets it:
``onnx_chainer.importing.limits.MAX_ELEMENTS = 2**30``.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from onnx_chainer.importing.errors import LimitError
from onnx_chainer.importing.values import Value, array_of

#: Elements of one result: 1 GiB of float32. The largest images and volumes have fewer.
MAX_ELEMENTS = 2**28

#: Elements of all results that are needed at one moment of a call: 4 GiB of float32.
MAX_LIVE_ELEMENTS = 2**30

#: Large weights and inputs raise the limits: a result may have this many elements for each element
#: of them, and all results four times as many. The first layers of VGG have 21.
ELEMENTS_PER_INPUT = 64

#: Iterations of all loops of a call together: loops in loops multiply.
MAX_ITERATIONS = 1_000_000

#: Nodes of a model with the bodies of all calls of functions: calls of calls multiply.
MAX_NODES = 250_000

#: Bytes of constants in the bodies of all calls of functions. A file has at most 2 GiB.
MAX_CONSTANT_BYTES = 2**31


class Budget:
    """The amounts that a call of a model may use, and has used.

    Args:
        size: Number of elements of the inputs and the weights.

    Attributes:
        most: Elements that a result may have.
        most_live: Elements that all results together may have.
        live: Elements of the results that are needed now.
        iterations: Iterations of loops so far.
    """

    def __init__(self, size: int = 0) -> None:
        self.most = max(MAX_ELEMENTS, ELEMENTS_PER_INPUT * size)
        self.most_live = max(MAX_LIVE_ELEMENTS, 4 * ELEMENTS_PER_INPUT * size)
        self.live = 0
        self.iterations = 0

    def iterate(self, operator: str) -> None:
        """Counts an iteration of a loop.

        Args:
            operator: Name of the operator, for the message.

        Raises:
            LimitError: If there were too many.
        """
        if self.iterations >= MAX_ITERATIONS:
            raise LimitError(
                operator, "iterations", self.iterations, "MAX_ITERATIONS", MAX_ITERATIONS
            )
        self.iterations += 1

    def keep(self, operator: str, size: int) -> None:
        """Counts a result that is kept.

        Args:
            operator: Name of the operator, for the message.
            size: Number of elements; see :func:`size_of`.

        Raises:
            LimitError: If the result, or all results, have too many elements.
        """
        if size > self.most:
            raise LimitError(operator, "elements of the result", size, "MAX_ELEMENTS", self.most)
        self.live += size
        if self.live > self.most_live:
            raise LimitError(
                operator, "elements of all results", self.live, "MAX_LIVE_ELEMENTS", self.most_live
            )


class _Calls(threading.local):
    """The budget of the call that a thread is computing."""

    def __init__(self) -> None:
        self.budget = Budget()


_calls = _Calls()


def budget() -> Budget:
    """Returns the budget of the call that this thread is computing."""
    return _calls.budget


@contextlib.contextmanager
def new_budget(size: int) -> Iterator[Budget]:
    """Starts a call of a model.

    Args:
        size: Number of elements of the inputs and the weights.
    """
    outer = _calls.budget
    _calls.budget = Budget(size)
    try:
        yield _calls.budget
    finally:
        _calls.budget = outer


def size_of(value: Any) -> int:
    """Returns the number of elements of a value; for a sequence, of all its tensors."""
    if isinstance(value, list):
        return sum([size_of(item) for item in value])
    return getattr(value, "size", 0)


def check_shape(operator: str, shape: Iterable[int]) -> None:
    """Refuses a result before memory is used for it.

    Args:
        operator: Name of the operator, for the message.
        shape: Shape of the result.

    Raises:
        LimitError: If it has too many elements.
    """
    # Python's integers: products of NumPy's would overflow.
    size = math.prod([int(n) for n in shape])
    most = _calls.budget.most
    if size > most:
        raise LimitError(operator, "elements of the result", size, "MAX_ELEMENTS", most)


def shapes_of(values: Iterable[Value]) -> list[tuple[int, ...]]:
    """Returns the shapes of tensors; inputs that are left out have none."""
    return [array_of(v).shape for v in values if v is not None]
