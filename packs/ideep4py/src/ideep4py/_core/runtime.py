"""Engine, streams, the per-thread cache of compiled operations, and the handling of forks.

Every Python thread has its own stream, scratch memory and compiled operations ("plans"): a plan
owns memory objects whose data pointers are set for each call, so sharing one would need a lock
around the call. The expensive part, the generated machine code, is shared: oneDNN keeps it in a
process-wide cache of its own.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ideep4py._core import constants as C
from ideep4py._core.buffers import allocate
from ideep4py._core.errors import check
from ideep4py._core.library import NULL, ffi, lib, optional_symbol

T = TypeVar("T")

_omp_set_num_threads = optional_symbol("omp_set_num_threads")
_omp_get_max_threads = optional_symbol("omp_get_max_threads")
_omp_pause_resource_all = optional_symbol("omp_pause_resource_all")
_OMP_PAUSE_HARD = 2

PLAN_CACHE_SIZE = 1024


def _create_engine() -> Any:
    box = ffi.new("engine_t *")
    check(lib.dnnl_engine_create(box, C.CPU, 0), "create the CPU engine")
    return box[0]


engine = _create_engine()  # lives as long as the process
creation_lock = threading.RLock()
"""Held while primitives are created and while the process forks, so that no child inherits a
locked cache.
"""


class Team:
    """The number of OpenMP threads of one thread of Python: the setting belongs to the thread.

    Attributes:
        limit: The most threads of its calls at the moment, or None.
    """

    __slots__ = ("_usual", "limit")

    def __init__(self) -> None:
        self.limit: int | None = None
        self._usual = 1

    def enter(self, limit: int | None) -> None:
        """Gives the calls of this thread at most that many threads; None: as many as usual."""
        if _omp_set_num_threads is None or _omp_get_max_threads is None:
            return
        if self.limit is None:
            self._usual = _omp_get_max_threads()
        self.limit = limit
        _omp_set_num_threads(self._usual if limit is None else min(limit, self._usual))

    def usual(self) -> int:
        """The number of threads without a limit."""
        if self.limit is not None:
            return self._usual
        return _omp_get_max_threads() if _omp_get_max_threads is not None else 1

    def set_usual(self, n: int) -> None:
        """Sets the number of threads without a limit."""
        self._usual = n
        if _omp_set_num_threads is not None:
            _omp_set_num_threads(n if self.limit is None else min(n, self.limit))


class _Teams(threading.local):
    """The team of each thread."""

    def __init__(self) -> None:
        self.team = Team()


_teams = _Teams()


class _ThreadState(threading.local):
    """Objects that one thread owns.

    Replaced as a whole to drop it everywhere (fork, another thread count).
    """

    def __init__(self) -> None:
        self.team = _teams.team
        if _threads is not None:
            self.team.set_usual(_threads)
        box = ffi.new("stream_t *")
        check(lib.dnnl_stream_create(box, engine, C.IN_ORDER), "create a stream")
        self.stream = ffi.gc(box[0], lib.dnnl_stream_destroy)
        self.plans: OrderedDict[Hashable, Any] = OrderedDict()
        self.scratch_size = 0
        self.scratch: Any = NULL


_threads: int | None = None
_limit: int | None = None  # set by limit_num_threads


def _winograd_wanted() -> bool:
    text = os.environ.get("IDEEP4PY_WINOGRAD", "")
    if text not in ("", "0", "1"):
        raise ValueError(f"IDEEP4PY_WINOGRAD must be 0 or 1, got {text!r}")
    return text != "0"


winograd = _winograd_wanted()
"""Whether convolutions may use Winograd's algorithm."""
_state = _ThreadState()


def stream() -> Any:
    """The calling thread's stream."""
    return _state.stream


def scratch(size: int) -> Any:
    """The calling thread's scratch memory, at least ``size`` bytes: valid until the next call."""
    state = _state
    if state.scratch_size < size:
        state.scratch = allocate(size)
        state.scratch_size = size
    return state.scratch


def plan(factory: Callable[..., T], *key: Hashable) -> T:
    """``factory(*key)``, made once per thread, key and limit of threads.

    A factory asks for no other plan: the limit may change at any time, and a primitive has to be
    described and made with the same one.

    Beyond ``PLAN_CACHE_SIZE`` plans the least recently used one is dropped.
    """
    plans, limit = _state.plans, _limit
    full_key = (factory, key, limit)
    try:
        found = plans[full_key]
    except KeyError:
        team().enter(limit)
        made = factory(*key)
        plans[full_key] = made
        while len(plans) > PLAN_CACHE_SIZE:
            plans.popitem(last=False)
        return made
    plans.move_to_end(full_key)
    return found


def team() -> Team:
    """The calling thread's number of OpenMP threads."""
    return _state.team


def follow_limit() -> None:
    """Gives the calling thread as many OpenMP threads as it may use now.

    For calls of oneDNN that need no plan.
    """
    state = _state
    if state.team.limit != _limit:
        state.team.enter(_limit)


def cached_plans() -> int:
    """Number of compiled operations that the calling thread keeps."""
    return len(_state.plans)


def drop_plans() -> None:
    """Drops the compiled operations, streams and scratch memory of all threads."""
    global _state
    _state = _ThreadState()


def set_num_threads(n: int) -> None:
    """Sets the number of OpenMP threads for oneDNN, in all threads of this process.

    Compiled operations are dropped: oneDNN divides the work when it compiles.

    Args:
        n: number of threads, at least 1.

    Raises:
        TypeError: ``n`` is not an int.
        ValueError: ``n`` is less than 1.
    """
    global _threads
    n = _positive(n)
    if _omp_set_num_threads is None:
        raise RuntimeError(
            "this oneDNN library has no OpenMP runtime to set the number of threads of"
        )
    if n == get_num_threads() and n == _threads:
        return
    _threads = n
    _state.team.set_usual(n)
    drop_plans()


def get_num_threads() -> int:
    """The number of threads a oneDNN call from the calling thread may use without a limit."""
    return _threads if _threads is not None else _state.team.usual()


def limit_num_threads(n: int | None) -> None:
    """Limits the number of OpenMP threads for oneDNN for a while, in all threads of this process.

    Calls that have begun go on. Compiled operations are kept: there is one for each limit, because
    oneDNN divides the work when it compiles. The last bits of sums depend on the number of threads.

    Args:
        n: at most that many threads from the next call on, at least 1; None removes the limit.

    Raises:
        TypeError: ``n`` is neither an int nor None.
        ValueError: ``n`` is less than 1.
    """
    global _limit
    _limit = None if n is None else _positive(n, "an int or None")


def _positive(n: int, expected: str = "an int") -> int:
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"n must be {expected}, got {type(n).__name__}")
    n = n.__index__()
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    return n


def _before_fork() -> None:
    # GNU OpenMP's pool threads do not survive a fork, and a child that waits for them hangs. The
    # pool belongs to the thread that forks, the only one the child will have: release it here, and
    # both sides make a new one.
    creation_lock.acquire()
    if _omp_pause_resource_all is not None:
        _omp_pause_resource_all(_OMP_PAUSE_HARD)


def _after_fork_in_parent() -> None:
    creation_lock.release()


def _after_fork_in_child() -> None:
    creation_lock.release()
    if _omp_pause_resource_all is None and _omp_set_num_threads is not None:
        global _threads
        _threads = 1  # the pool cannot be released: only a single thread is safe
    drop_plans()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)
