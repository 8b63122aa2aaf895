"""Threads of GNU OpenMP that sleep at once where other programs use the cores.

oneDNN, which iDeep uses, computes with these threads. A thread that waits for another one spins
300,000 times before it sleeps: milliseconds. If it spins on the core that the other one needs, each
call takes many times as long. GNU OpenMP spins 100 times only while a process has more of its
threads than cores ("GOMP_SPINCOUNT" in the manual of libgomp). So threads are added that sleep.

The number of threads of a call stays as it is, because sums of oneDNN depend on it.
"""

from __future__ import annotations

import ctypes
import threading


class OpenMPWaiting:
    """Sets how the threads of GNU OpenMP wait.

    Args:
        library: The loaded library.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._ended: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def give_way(self) -> None:
        """Makes threads sleep as soon as they wait."""
        if self._thread is not None:
            return
        self._ended, has_begun = threading.Event(), threading.Event()
        self._thread = threading.Thread(
            target=self._own_threads, args=(has_begun, self._ended), daemon=True
        )
        self._thread.name = "chainer-openmp"
        self._thread.start()
        has_begun.wait()

    def take_back(self) -> None:
        """Lets threads spin again, so that a call begins sooner."""
        if self._thread is not None and self._ended is not None:
            self._ended.set()
            self._thread.join()
            self._thread = self._ended = None

    def _own_threads(self, has_begun: threading.Event, ended: threading.Event) -> None:
        # Each thread that calls the library has a team of its own, which lives as long as it does.
        # With this one, the process has more threads than cores, however many the others have.
        parallel = self._library.GOMP_parallel
        parallel.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        parallel.restype = None
        # A function that does nothing, needs no Python, and ignores what it is given.
        nothing = ctypes.cast(self._library.omp_get_thread_num, ctypes.c_void_p)
        try:
            parallel(nothing, None, int(self._library.omp_get_num_procs()) + 1, 0)
        finally:
            has_begun.set()
        ended.wait()
