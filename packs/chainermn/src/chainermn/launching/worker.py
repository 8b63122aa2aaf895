"""The part of ``chainer launch`` in each process: runs the program, and a report of how it
ended.
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
import traceback
from typing import Any

from chainermn.launching.control import VARIABLE, ControlClient
from chainermn.mpi import call_when_loaded

#: Seconds that a process which has failed waits for the launcher to end all.
MAX_SECONDS_TO_WAIT = 60.0

_RANK_VARIABLES = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")


def main() -> int:
    """Runs the program named by the arguments of this process."""
    rank = next((int(os.environ[name]) for name in _RANK_VARIABLES if name in os.environ), 0)
    client = ControlClient(os.environ.pop(VARIABLE), rank, os.getpid())
    # A child would keep the connection open after this process was killed.
    os.register_at_fork(after_in_child=client.close)
    # Registered first, so it runs last: other threads and functions of atexit may still need MPI.
    atexit.register(_tell_done, client, os.getpid())
    call_when_loaded(client.tell_segments)
    script, *arguments = sys.argv[1:]
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as error:
        status = _status(error.code)
        if status:
            return _end(client, "exited", f"sys.exit({error.code!r})", status)
    except KeyboardInterrupt:
        return _end(client, "exited", "KeyboardInterrupt", 130)
    except BaseException:
        return _end(client, "failed", _own_part(traceback.format_exc()), 1)
    return 0


def _tell_done(client: ControlClient, process: int) -> None:
    if os.getpid() == process:  # not a process that was forked from this one
        client.tell("done")


def _status(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr, flush=True)
    return 1


def _end(client: ControlClient, kind: str, text: str, status: int) -> int:
    """Tells the launcher, which ends all processes, this one included."""
    sys.stdout.flush()
    sys.stderr.flush()
    client.tell(kind, text, status)
    client.wait(MAX_SECONDS_TO_WAIT)
    # Without the finalization of MPI, which would wait for the others.
    os._exit(status)


def _own_part(text: str) -> str:
    """Returns a traceback without the lines of this module and of runpy."""
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    skips = False
    for line in lines:
        if line.startswith('  File "'):
            skips = 'launching/worker.py"' in line or '"<frozen runpy>"' in line
        elif not line.startswith("    "):
            skips = False
        if not skips:
            kept.append(line)
    return "".join(kept)


if __name__ == "__main__":
    sys.exit(main())
