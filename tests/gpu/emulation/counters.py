"""Counters of the emulated devices, for tests."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
from collections.abc import Iterator

from .state import active, library

__all__ = ["Counts", "active", "counting", "counts"]


@dataclasses.dataclass
class Counts:
    """What was done on all devices, by this process.

    Attributes:
        copies: Copies between host and device, either way.
        synchronizations: Waits of the host: for a device, a stream, an event, or for a copy to the
            host.
        launches: Launches of kernels.
    """

    copies: int = 0
    synchronizations: int = 0
    launches: int = 0


def counts() -> Counts:
    """Returns the numbers since the process started."""
    names = [field.name for field in dataclasses.fields(Counts)]
    values = [ctypes.c_long.in_dll(library(), f"emulation_{name}").value for name in names]
    return Counts(*values)


@contextlib.contextmanager
def counting() -> Iterator[Counts]:
    """Counts what is done in the body; the numbers are there at its end."""
    before, counted = counts(), Counts()
    yield counted
    after = counts()
    for field in dataclasses.fields(Counts):
        setattr(counted, field.name, getattr(after, field.name) - getattr(before, field.name))
