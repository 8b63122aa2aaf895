"""Ends all processes when an exception that nothing catches ends one.

MPI does not see that a Python process ended with an exception, or by ``sys.exit(1)``, while the
others wait for its messages: they would wait forever.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
import warnings
from types import TracebackType
from typing import Any

_installed = False
#: Time at which the last exception of ``sys.exit`` was destroyed, and its status.
_destroyed: list[tuple[float, Any]] = []
#: Between the end of the program and the functions of atexit; Python joins threads in between.
MAX_SECONDS_TO_END = 1.0


def add_hook() -> None:
    """Replaces ``sys.excepthook`` by one that ends all processes of the program.

    The previous hook prints the traceback. Then the rank is printed, and ``MPI_Abort`` ends all
    processes with status 1, or the status of ``sys.exit``.

    :func:`~chainermn.create_communicator` calls it if there is more than one process, unless the
    environment variable ``CHAINERMN_FORCE_ABORT_ON_EXCEPTION`` is ``0``. If the variable is not
    empty, ``import chainermn`` does. A second call warns and does nothing.
    """
    if _installed:
        warnings.warn("chainermn.global_except_hook.add_hook() was called before", stacklevel=2)
        return
    install()


def install() -> None:
    """Same as :func:`add_hook`, but silent if the hook is there."""
    global _installed
    if _installed:
        return
    _installed = True
    previous = sys.excepthook

    def hook(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        previous(kind, error, traceback)
        abort(f"{kind.__name__}: {error}", 1)

    sys.excepthook = hook
    # SystemExit does not reach the hook, so sys.exit raises one that can be followed.
    sys.exit = _recording_exit
    atexit.register(_check_exit)


def abort(reason: str, status: int) -> None:
    """Ends all processes.

    Args:
        reason: Text that is printed, with the rank.
        status: Exit status.
    """
    module: Any = sys.modules.get("mpi4py.MPI")
    if module is None or not module.Is_initialized() or module.Is_finalized():
        return
    world = module.COMM_WORLD
    if world.Get_size() == 1:
        return
    line = "*" * 60
    print(
        f"{line}\nchainermn: rank {world.Get_rank()} of {world.Get_size()} ended: {reason}\n"
        f"chainermn: MPI_Abort ends all processes\n{line}",
        file=sys.stderr,
        flush=True,
    )
    sys.stdout.flush()
    world.Abort(status)


class _RecordedExit(SystemExit):
    """The exception of ``sys.exit``; notes when it is destroyed.

    If nothing catches it, that is when the interpreter begins to end.
    """

    def __del__(self) -> None:
        _destroyed[:] = [(time.monotonic(), self.code)]


def _recording_exit(status: Any = None, /) -> Any:
    raise _RecordedExit(status)


def _check_exit() -> None:
    if not _destroyed:
        return
    when, code = _destroyed[0]
    # A program that has caught the exception and gone on has ended well.
    if code in (None, 0) or time.monotonic() - when > MAX_SECONDS_TO_END:
        return
    abort(f"sys.exit({code!r})", code if isinstance(code, int) else 1)


def wanted_by_environment() -> bool:
    """Returns whether the environment asks for the hook at import."""
    names = ("CHAINERMN_FORCE_ABORT_ON_EXCEPTION", "CHAINERMN_FORCE_ABORT_ON_EXCEPTIONS")
    return any(os.environ.get(name, "0") not in ("", "0") for name in names)
