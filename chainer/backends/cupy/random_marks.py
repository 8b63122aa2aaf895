"""Tells cheaply whether numbers of ``cupy.random`` were drawn.

CuPy cannot read the state of cuRAND's generators. But all that draws from a ``RandomState`` reads
its attributes first, such as the handle of the generator. So these reads are counted.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_READS = "_chainer_reads"


def mark(source: Any) -> dict[str, int]:
    """Returns a value that differs from an earlier one if numbers were drawn between.

    The first call gives the source a class that counts. The object stays the same, because
    programs hold references to it.

    Args:
        source (cupy.random.RandomState): The source of a device.
    """
    members = object.__getattribute__(source, "__dict__")
    if _READS not in members:
        members[_READS] = 0
        source.__class__ = _counting(type(source))
    return {"source": id(source), "reads": members[_READS]}


@cache
def _counting(cls: Any) -> type:
    """Returns a class like this one whose objects count the reads of their attributes."""

    class Counting(cls):
        def __getattribute__(self, name: str) -> Any:
            if not name.startswith("__"):
                object.__getattribute__(self, "__dict__")[_READS] += 1
            return super().__getattribute__(name)

    # Programs and messages see the class of CuPy.
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(Counting, name, getattr(cls, name))
    return Counting
