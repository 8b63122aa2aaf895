"""Compiled loops on the threads of OpenMP, where oneDNN computes with them.

A thread of a pool waits spinning for the next call. Two pools that take turns take the processors
from each other: a loop that starts right after a call of oneDNN would wait until one of its threads
stops spinning. So loops use the pool that cannot be replaced, the threads of GNU OpenMP.

OpenBLAS could use them, too: it takes a function that runs the parts of a product. But then it
returns wrong products where several threads of a program multiply at once, because all products
share one set of buffers. With a lock around them, two calls of LAPACK at once did not end.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import TYPE_CHECKING

import llvmlite.binding as llvm

from chainer_numba import workers
from chainer_numba.native_code import loaded

if TYPE_CHECKING:
    from chainer.backend import Backend

#: Functions of GNU OpenMP that the code below calls.
_CALLED = ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads")

#: ``run(part, data, count)`` calls ``part(data, i)`` for each ``i`` below ``count``, and each on
#: another thread where there are as many. A team has at least as many threads as those of oneDNN:
#: OpenMP ends the threads that a smaller team does not need, and would start them again. If oneDNN
#: has one thread, because other programs use the processors, that one makes all calls.
_CODE = """
%team = type { ptr, ptr, i32 }

declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i32 @omp_get_max_threads()

define internal void @member(ptr %team) {
entry:
  %part = load ptr, ptr %team
  %second = getelementptr %team, ptr %team, i32 0, i32 1
  %data = load ptr, ptr %second
  %place = getelementptr %team, ptr %team, i32 0, i32 2
  %count = load i32, ptr %place
  %first = call i32 @omp_get_thread_num()
  %step = call i32 @omp_get_num_threads()
  %any = icmp slt i32 %first, %count
  br i1 %any, label %next, label %end
next:
  %i = phi i32 [ %first, %entry ], [ %following, %next ]
  call void %part(ptr %data, i32 %i)
  %following = add i32 %i, %step
  %more = icmp slt i32 %following, %count
  br i1 %more, label %next, label %end
end:
  ret void
}

define void @run(ptr %part, ptr %data, i32 %count) {
  %team = alloca %team
  store ptr %part, ptr %team
  %second = getelementptr %team, ptr %team, i32 0, i32 1
  store ptr %data, ptr %second
  %place = getelementptr %team, ptr %team, i32 0, i32 2
  store i32 %count, ptr %place
  %usual = call i32 @omp_get_max_threads()
  %few = icmp slt i32 %usual, %count
  %more = select i1 %few, i32 %count, i32 %usual
  %alone = icmp eq i32 %usual, 1
  %threads = select i1 %alone, i32 1, i32 %more
  call void @GOMP_parallel(ptr @member, ptr %team, i32 %threads, i32 0)
  ret void
}
"""


class SharedThreadsKernel:
    """Kernel of ``shared_threads``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def share(self) -> bool:
        """Runs loops on the threads of OpenMP from now on; see the operation."""
        run = _openmp()
        if run is None:
            return False
        workers.run_elsewhere(run)
        return True


@cache
def _openmp() -> int | None:
    """Returns the address of ``run``, or None if there is no pool of GNU OpenMP to share."""
    try:
        # Only if it is in the process already: another library would bring a further pool.
        library = ctypes.CDLL("libgomp.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        addresses = {
            name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _CALLED
        }
    except (AttributeError, OSError):
        return None  # not Linux, or not loaded
    # ideep4py gives the threads back before a fork, in versions of OpenMP that can. Otherwise a
    # child process would wait for threads that it does not have.
    if not hasattr(library, "omp_pause_resource_all"):
        return None
    for name, address in addresses.items():
        llvm.add_symbol(name, address)
    return loaded(_CODE, "run")[0]
