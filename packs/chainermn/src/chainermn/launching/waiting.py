"""Tells where a process waits for others, so that the launcher finds those that wait in vain."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where a process is.

    Attributes:
        text: The line of the program, and the method of the communicator, for people.
        position: Changes when the process moves.
        in_vain: Whether it waits for a process that has ended.
    """

    text: str
    position: str
    in_vain: bool


def find_place(ended: Sequence[int]) -> Place:
    """Returns where this process is.

    A thread waits in vain if it is inside of a method of a communicator that one of the ended
    processes belongs to, and, for messages from one process to another, if that one has ended. The
    caller must see the same position for some seconds before.

    Args:
        ended: Ranks of the processes that have ended.
    """
    positions: list[str] = []
    text, in_vain = "", False
    # Python documents the function. The first thread is the main one.
    for thread, top in sorted(sys._current_frames().items()):  # pyright: ignore[reportPrivateUsage]
        call = next(filter(None, (_call(frame) for frame in _frames(top))), None)
        waits = call is not None and _needs(call, ended)
        if waits or not text:
            line = _line_of_program(top)
            text = f"{call.f_code.co_name} ({line})" if waits and call is not None else line
        in_vain = in_vain or waits
        if waits or call is not None:
            positions.append(f"{thread}:{id(top)}:{top.f_lasti}")
    return Place(text, " ".join(positions), in_vain)


def _frames(top: FrameType) -> Iterator[FrameType]:
    frame: FrameType | None = top
    while frame is not None:
        yield frame
        frame = frame.f_back


def _call(frame: FrameType) -> FrameType | None:
    """Returns the frame if it is a method of a communicator that waits for others."""
    module = sys.modules.get("chainermn.communicators.mpi_communicator_base")
    if module is None or frame.f_code.co_name.startswith("_"):
        return None
    owner = frame.f_locals.get("self")
    return frame if isinstance(owner, module.MpiCommunicatorBase) else None


def _needs(call: FrameType, ended: Sequence[int]) -> bool:
    """Returns whether a call cannot end without one of the processes."""
    communicator: Any = call.f_locals["self"]
    mpi: Any = sys.modules["mpi4py.MPI"]
    if not mpi.Is_initialized() or mpi.Is_finalized():
        return False
    if mpi.Query_thread() == mpi.THREAD_MULTIPLE:
        world = mpi.COMM_WORLD.Get_group()
        group = communicator.mpi_comm.Get_group()
        ranks = {r for r in world.Translate_ranks(list(ended), group) if r != mpi.UNDEFINED}
    elif communicator.size == mpi.COMM_WORLD.Get_size():
        ranks = set(ended)
    else:  # MPI may not be asked while another thread is in it
        return False
    peers = [call.f_locals[name] for name in ("source", "dest") if name in call.f_locals]
    return bool(ranks.intersection(peers) if peers else ranks)


def _line_of_program(top: FrameType) -> str:
    """Returns file and line of the innermost code that belongs to no installed package."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for frame in _frames(top):
        name = frame.f_code.co_filename
        if not name.startswith(("<", own)) and "site-packages" not in name:
            return f"{os.path.basename(name)}, line {frame.f_lineno}"
    return f"{os.path.basename(top.f_code.co_filename)}, line {top.f_lineno}"
