"""Threads that run parts of a call without Python: a part starts within some microseconds.

The calling thread runs every part that no other thread has taken yet. So a call never waits for
a thread that has not started, such as one that sleeps, or one whose processor another program uses.
Waking a thread takes 20 to 100 microseconds, in which the caller computes what it would have
waited for.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from functools import cache
from typing import Any

from chainer_numba.native_code import loaded

#: How long a thread without work polls before it sleeps, in nanoseconds. Python needs up to half a
#: millisecond between two calls of a step, and waking a thread costs the caller as much as a
#: product of 500 rows with 64 x 64 weights. A poll yields the processor to any program that wants
#: it. A step of a small perceptron took 0.43 milliseconds, and 0.49 with a fifth of this time (two
#: threads of a Xeon, medians of four processes in turns).
POLLING = 1_000_000

#: Calls of which a polling thread got no part, after which it sleeps at once. It has not run
#: meanwhile, mostly because it is on the processor of the calling thread. The system wakes it on
#: another one that has nothing to do, where moving a running thread takes it up to 0.2 seconds.
MISSED_CALLS = 2

#: Parts of a call at most: their number has 16 bits of the ticket.
MOST_PARTS = (1 << 16) - 1

#: Number of the system call ``futex`` of Linux, by kind of processor; None on other systems.
_FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine()) if sys.platform == "linux" else None

#: Whether the system has these threads.
ARE_THERE = _FUTEX is not None

# A ticket holds the number of the call, the number of its parts and the first part that no thread
# has taken (32, 16 and 16 bits). A thread that takes a part compares all of it, so that it takes no
# part of a call that has ended. What a part reads belongs to the caller, who waits for all parts.
#
# Operations of ``futex``: 128 waits while a number has a value, 129 wakes that many threads, both
# within a process. A thread that is about to sleep counts itself first, and looks for work then. A
# caller offers work first, and looks for sleeping threads then. So one of the two sees the other.
_CODE = """
@ticket = internal global i64 0, align 128
@finished = internal global i32 0, align 128
@posted = internal global i32 0, align 128
@sleeping = internal global i32 0, align 4
@member = internal global ptr null, align 128
@data = internal global ptr null, align 8

declare i32 @sched_yield()
declare i32 @clock_gettime(i32, ptr)
declare i64 @syscall(i64, ...)

define internal void @futex(i64 %operation, i32 %value) {
  %done = call i64 (i64, ...)
    @syscall(i64 FUTEX, ptr @posted, i64 %operation, i32 %value, ptr null, ptr null, i64 0)
  ret void
}

define internal i64 @now() {
  %time = alloca { i64, i64 }, align 8
  %done = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time, align 8
  %place = getelementptr { i64, i64 }, ptr %time, i32 0, i32 1
  %rest = load i64, ptr %place, align 8
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}

define internal i32 @take() {
entry:
  br label %again
again:
  %old = load atomic i64, ptr @ticket seq_cst, align 8
  %next = and i64 %old, 65535
  %shifted = lshr i64 %old, 16
  %count = and i64 %shifted, 65535
  %any = icmp ult i64 %next, %count
  br i1 %any, label %take, label %none
take:
  %new = add i64 %old, 1
  %pair = cmpxchg ptr @ticket, i64 %old, i64 %new seq_cst seq_cst
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %found, label %again
found:
  %part = trunc i64 %next to i32
  ret i32 %part
none:
  ret i32 -1
}

define void @run(ptr %function, ptr %argument, i32 %count) {
entry:
  store ptr %function, ptr @member
  store ptr %argument, ptr @data
  store atomic i32 0, ptr @finished seq_cst, align 4
  %old = load atomic i64, ptr @ticket seq_cst, align 8
  %call = lshr i64 %old, 32
  %number = add i64 %call, 1
  %high = shl i64 %number, 32
  %wide = zext i32 %count to i64
  %middle = shl i64 %wide, 16
  %both = or i64 %high, %middle
  %new = or i64 %both, 1
  store atomic i64 %new, ptr @ticket seq_cst, align 8
  %word = trunc i64 %number to i32
  store atomic i32 %word, ptr @posted seq_cst, align 4
  %asleep = load atomic i32, ptr @sleeping seq_cst, align 4
  %wakes = icmp ne i32 %asleep, 0
  %others = sub i32 %count, 1
  br i1 %wakes, label %wake, label %begin
wake:
  call void @futex(i64 129, i32 %others)
  br label %begin
begin:
  call void %function(ptr %argument, i32 0)
  br label %next
next:
  %part = call i32 @take()
  %any = icmp sge i32 %part, 0
  br i1 %any, label %one, label %wait
one:
  call void %function(ptr %argument, i32 %part)
  %before = atomicrmw add ptr @finished, i32 1 seq_cst
  br label %next
wait:
  %done = load atomic i32, ptr @finished seq_cst, align 4
  %all = icmp eq i32 %done, %others
  br i1 %all, label %end, label %yield
yield:
  %yielded = call i32 @sched_yield()
  br label %wait
end:
  ret void
}

define void @serve() {
entry:
  %ticket0 = load atomic i64, ptr @ticket seq_cst, align 8
  %call0 = lshr i64 %ticket0, 32
  br label %fresh
fresh:
  %seen = phi i64 [ %call0, %entry ], [ %call1, %one ], [ %call2, %awake ]
  %began = call i64 @now()
  br label %poll
poll:
  %part = call i32 @take()
  %any = icmp sge i32 %part, 0
  br i1 %any, label %one, label %idle
one:
  %function = load ptr, ptr @member
  %argument = load ptr, ptr @data
  %ticket1 = load atomic i64, ptr @ticket seq_cst, align 8
  %call1 = lshr i64 %ticket1, 32
  call void %function(ptr %argument, i32 %part)
  %before = atomicrmw add ptr @finished, i32 1 seq_cst
  br label %fresh
idle:
  %ticket2 = load atomic i64, ptr @ticket seq_cst, align 8
  %call2 = lshr i64 %ticket2, 32
  %calls = sub i64 %call2, %seen
  %kept = icmp ult i64 %calls, MISSED
  %time = call i64 @now()
  %waited = sub i64 %time, %began
  %early = icmp slt i64 %waited, NANOSECONDS
  %patient = and i1 %kept, %early
  br i1 %patient, label %yield, label %sleep
yield:
  %yielded = call i32 @sched_yield()
  br label %poll
sleep:
  %word = load atomic i32, ptr @posted seq_cst, align 4
  %counted = atomicrmw add ptr @sleeping, i32 1 seq_cst
  %ticket = load atomic i64, ptr @ticket seq_cst, align 8
  %next = and i64 %ticket, 65535
  %shifted = lshr i64 %ticket, 16
  %count = and i64 %shifted, 65535
  %work = icmp ult i64 %next, %count
  br i1 %work, label %awake, label %rest
rest:
  call void @futex(i64 128, i32 %word)
  br label %awake
awake:
  %uncounted = atomicrmw sub ptr @sleeping, i32 1 seq_cst
  br label %fresh
}

define void @forget() {
  store atomic i64 0, ptr @ticket seq_cst, align 8
  store atomic i32 0, ptr @sleeping seq_cst, align 4
  ret void
}
"""

#: Number of threads of this process.
_count = 0


@cache
def _functions() -> tuple[int, Any, Any] | None:
    """Returns the address of ``run``, and the other two functions; None on other systems."""
    if not ARE_THERE:
        return None
    code = _CODE.replace("FUTEX", str(_FUTEX)).replace("NANOSECONDS", str(POLLING))
    code = code.replace("MISSED", str(MISSED_CALLS))
    run, serve, forget = loaded(code, "run", "serve", "forget")
    function = ctypes.CFUNCTYPE(None)
    return run, function(serve), function(forget)


def run_with(threads: int) -> int | None:
    """Returns the address of a function that runs parts, after starting the threads for it.

    ``run(part, data, count)`` calls ``part(data, i)`` for each ``i`` below ``count``, on any
    thread. Only one thread of the program may call it at a time.

    Args:
        threads: Number of threads beside the calling one.

    Returns:
        int: The address, or None where the threads of Python have to do.
    """
    global _count
    functions = _functions()
    if functions is None:
        return None
    run, serve, _ = functions
    while _count < threads:
        _count += 1
        # A foreign function of ctypes does not hold the interpreter's lock. This one never returns.
        threading.Thread(target=serve, name=f"chainer-numba {_count}", daemon=True).start()
    return run


def _forget_threads() -> None:
    # A fork copies the memory but not the threads.
    global _count
    if _count:
        _count = 0
        functions = _functions()
        assert functions is not None
        functions[2]()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
