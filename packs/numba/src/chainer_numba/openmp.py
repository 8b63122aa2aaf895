"""Loops and products on the threads of OpenMP, where oneDNN computes with them.

A thread of a pool waits spinning for the next call. Two or three pools that take turns take the
processors from each other. So all parts of a program share the pool that cannot be replaced: the
threads of GNU OpenMP, which oneDNN uses.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm

from chainer_numba import workers
from chainer_numba.native_code import loaded

if TYPE_CHECKING:
    from chainer.backend import Backend

#: Functions of GNU OpenMP that the code below calls.
_CALLED = ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads")

#: Names of OpenBLAS's function that sets what runs the parts of a product, by NumPy and in general.
_SETTERS = (
    "scipy_openblas_set_threads_callback_function64_",
    "scipy_openblas_set_threads_callback_function",
    "openblas_set_threads_callback_function64_",
    "openblas_set_threads_callback_function",
)

#: ``run(wait, job, count, size, data, argument)`` calls ``job(i, data + i * size, argument)`` for
#: each ``i`` below ``count``, and each on another thread. The signature is that of the function
#: which OpenBLAS takes in place of its own threads. A team has as many threads as those of oneDNN:
#: OpenMP ends the threads that a smaller team does not need, and would start them again.
_CODE = """
%team = type { ptr, ptr, i64, i32, i32 }

declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i32 @omp_get_max_threads()

define internal void @member(ptr %team) {
entry:
  %job = load ptr, ptr %team
  %p1 = getelementptr %team, ptr %team, i32 0, i32 1
  %data = load ptr, ptr %p1
  %p2 = getelementptr %team, ptr %team, i32 0, i32 2
  %size = load i64, ptr %p2
  %p3 = getelementptr %team, ptr %team, i32 0, i32 3
  %count = load i32, ptr %p3
  %p4 = getelementptr %team, ptr %team, i32 0, i32 4
  %argument = load i32, ptr %p4
  %first = call i32 @omp_get_thread_num()
  %step = call i32 @omp_get_num_threads()
  %any = icmp slt i32 %first, %count
  br i1 %any, label %next, label %end
next:
  %i = phi i32 [ %first, %entry ], [ %following, %next ]
  %wide = sext i32 %i to i64
  %offset = mul i64 %wide, %size
  %place = getelementptr i8, ptr %data, i64 %offset
  call void %job(i32 %i, ptr %place, i32 %argument)
  %following = add i32 %i, %step
  %more = icmp slt i32 %following, %count
  br i1 %more, label %next, label %end
end:
  ret void
}

define void @run(i32 %wait, ptr %job, i32 %count, i64 %size, ptr %data, i32 %argument) {
  %team = alloca %team
  store ptr %job, ptr %team
  %p1 = getelementptr %team, ptr %team, i32 0, i32 1
  store ptr %data, ptr %p1
  %p2 = getelementptr %team, ptr %team, i32 0, i32 2
  store i64 %size, ptr %p2
  %p3 = getelementptr %team, ptr %team, i32 0, i32 3
  store i32 %count, ptr %p3
  %p4 = getelementptr %team, ptr %team, i32 0, i32 4
  store i32 %argument, ptr %p4
  %usual = call i32 @omp_get_max_threads()
  %few = icmp slt i32 %usual, %count
  %threads = select i1 %few, i32 %count, i32 %usual
  call void @GOMP_parallel(ptr @member, ptr %team, i32 %threads, i32 0)
  ret void
}
"""

_Job = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_Run = ctypes.CFUNCTYPE(
    None,
    ctypes.c_int,
    _Job,
    ctypes.c_int,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_int,
)


class SharedThreadsKernel:
    """Kernel of ``shared_threads``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def share(self) -> bool:
        """Runs products of NumPy and loops on the threads of OpenMP; see the operation."""
        openmp, products = _openmp(), _blas_setters()
        if openmp is None or products is None:
            return False
        for setter in products:
            setter(openmp.address)
        workers.use_team(openmp.run_parts)
        return True


class _OpenMP:
    """The pool of threads of OpenMP.

    Args:
        address: Address of the compiled code.
    """

    def __init__(self, address: int) -> None:
        self.address = address
        self._run = _Run(address)

    def run_parts(
        self, loop: Callable[..., Any], bounds: Sequence[int], arguments: tuple[Any, ...]
    ) -> None:
        """Calls a loop once for each part; see :func:`chainer_numba.workers.run_parts`."""
        errors: list[BaseException] = []

        def part(i: int, _: int | None, __: int) -> None:
            try:
                loop(i, bounds[i], bounds[i + 1], *arguments)
            except BaseException as error:  # raised again by the calling thread
                errors.append(error)

        self._run(1, _Job(part), len(bounds) - 1, 0, None, 0)
        if errors:
            raise errors[0]


@cache
def _openmp() -> _OpenMP | None:
    """Returns the pool of GNU OpenMP that oneDNN uses, or None if it cannot be shared."""
    try:
        # Only if it is in the process already: another one would be a further pool.
        library = ctypes.CDLL("libgomp.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        addresses = {
            name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _CALLED
        }
        library.omp_pause_resource_all
    except (AttributeError, OSError):
        return None
    for name, address in addresses.items():
        llvm.add_symbol(name, address)
    return _OpenMP(loaded(_CODE))


def _blas_setters() -> list[Any] | None:
    """Returns functions that set what replaces the threads of BLAS libraries, or None."""
    try:
        threadpoolctl: Any = importlib.import_module("threadpoolctl")
    except ImportError:
        return None
    setters = []
    for library in threadpoolctl.ThreadpoolController().lib_controllers:
        if library.user_api != "blas":
            continue
        setter = _setter(library.dynlib) if library.internal_api == "openblas" else None
        if setter is None:
            return None
        setters.append(setter)
    return setters


def _setter(library: Any) -> Any:
    for name in _SETTERS:
        setter = getattr(library, name, None)
        if setter is not None:
            setter.argtypes, setter.restype = [ctypes.c_void_p], None
            return setter
    return None
