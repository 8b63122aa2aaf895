"""Tells cheaply whether numbers of ``numpy.random`` were drawn.

``numpy.random.get_state`` makes 624 Python numbers, which takes longer than a small step. The same
state is in memory, where a copy takes less than a microsecond: the words of the generator, and
the second number of a pair of normal numbers, which waits in the object that draws.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy

_WORDS = 624
#: Bytes of the flag that a number waits, with what aligns the number, and of the number.
_PAIR = 16


class RandomMarks:
    """States of a ``RandomState``, as short as they can be read.

    NumPy does not promise where a state is in memory. So the places are looked up and compared
    with ``get_state``. If they differ, marks are the states that ``get_state`` returns.

    Args:
        source: The ``numpy.random.RandomState``.
        bit_generator: What it draws from.
    """

    def __init__(self, source: numpy.random.RandomState, bit_generator: Any) -> None:
        self.bit_generator = bit_generator
        self._source = source
        self._read = self._reader()

    def mark(self) -> Any:
        """Returns a value that differs from an earlier one if numbers were drawn between."""
        return self._source.get_state(legacy=False) if self._read is None else self._read()

    def _reader(self) -> Callable[[], bytes] | None:
        """Returns a function that copies the state; None if its place is not known."""
        offset = _offset_of_pair()
        if offset is None or type(self.bit_generator) is not numpy.random.MT19937:
            return None
        words = (ctypes.c_uint32 * (_WORDS + 1)).from_address(
            self.bit_generator.ctypes.state_address
        )
        pair = (ctypes.c_char * _PAIR).from_address(id(self._source) + offset)
        with self.bit_generator.lock:
            state: Any = self.bit_generator.state["state"]
            # An int32 after the words: the position of the next one.
            if [*state["key"].tolist(), state["pos"]] != list(words):
                return None
        return lambda: bytes(words) + bytes(pair)


def _offset_of_pair() -> int | None:
    """Returns where a ``RandomState`` keeps the flag and the number that waits."""
    if sys.implementation.name != "cpython":
        return None  # ``id`` is an address there only
    source = numpy.random.RandomState(1)
    memory = (ctypes.c_char * numpy.random.RandomState.__basicsize__).from_address(id(source))
    found = set(range(0, len(memory) - _PAIR + 1, 8))
    for _ in range(6):
        source.standard_normal()
        state: Any = source.get_state(legacy=False)
        flag = int(state["has_gauss"]).to_bytes(4, sys.byteorder)
        number = numpy.float64(state["gauss"]).tobytes()
        now = bytes(memory)
        found = {i for i in found if now[i : i + 4] == flag and now[i + 8 : i + _PAIR] == number}
    return found.pop() if len(found) == 1 else None


class _GlobalMarks:
    """Marks of ``numpy.random`` itself, whose generator can be replaced."""

    def __init__(self) -> None:
        self._marks: RandomMarks | None = None

    def mark(self) -> Any:
        # NumPy's types do not know this function.
        bit_generator = numpy.random.get_bit_generator()  # pyright: ignore[reportAttributeAccessIssue]
        marks = self._marks
        if marks is None or marks.bit_generator is not bit_generator:
            source: Any = numpy.random.get_state
            marks = self._marks = RandomMarks(source.__self__, bit_generator)
        return marks.mark()


mark = _GlobalMarks().mark
