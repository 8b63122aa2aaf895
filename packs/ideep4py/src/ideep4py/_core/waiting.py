"""How long the threads of GNU OpenMP wait spinning before they sleep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

#: Spins until a thread sleeps, instead of 300,000: some 20 microseconds instead of milliseconds. A
#: thread that spins for another one keeps the processor that the other one needs, where a further
#: program runs. With two threads on two processors, of which another program used one, a training
#: step of LeNet took 93 milliseconds with 300,000 spins, 56 with 10,000, 43 with 1,000 and 43 with
#: none; with nothing else running 21.7, 20.0, 21.1 and 24.3 (AMD EPYC with AVX2).
SPINS = 1000

_CHOICES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


@contextmanager
def short_waits() -> Iterator[None]:
    """Makes threads sleep soon if GNU OpenMP is loaded in this block.

    GNU OpenMP reads the environment when it is loaded. A choice of the user stays, and processes
    that are started later see none of it.
    """
    if any(name in os.environ for name in _CHOICES):
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = str(SPINS)
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]
