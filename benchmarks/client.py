"""A worker process as the driver sees it: requests in, replies out."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers import Peer

#: Lines of a dead worker's standard error that are shown.
SHOWN_LINES = 12

WORKER = Path(__file__).resolve().parent / "workers" / "worker.py"


class WorkerError(Exception):
    """A worker answered with an error, stopped, or gave no answer in time."""


class Client:
    """Starts the worker of a peer and talks to it.

    Args:
        peer: Whose interpreter to start.
        threads: Number of threads its libraries may use.
        timeout: Seconds to wait for one answer.
        is_pinned: Whether the worker has only as many processors as threads.
    """

    def __init__(
        self, peer: Peer, threads: int, timeout: float = 600.0, is_pinned: bool = True
    ) -> None:
        self.peer = peer
        self.timeout = timeout
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close())
        # -I: neither the current directory nor PYTHONPATH may decide which chainer is imported.
        self._process = subprocess.Popen(
            [peer.python, "-I", "-W", "ignore", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=peer.environment(threads),
            cwd=tempfile.gettempdir(),
        )
        if is_pinned:
            # Before the worker imports a library: threads inherit it.
            pin(self._process.pid, threads)
        self._buffer = b""

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Sends a request and returns the reply.

        Raises:
            WorkerError: The worker answered with an error, stopped, or gave no answer in time.
        """
        request = json.dumps({"do": do, **arguments}).encode() + b"\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise WorkerError(self._stopped(do)) from error
        reply = json.loads(self._read_line(do))
        if "error" in reply:
            raise WorkerError(f"{self.peer.name}: {do} {arguments}\n{reply['error']}")
        return reply

    @property
    def alive(self) -> bool:
        """Whether the worker still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the worker: politely, then, if it does not go, for good."""
        if self._process.stdin is not None:
            # A worker that died leaves what it was asked in the pipe's buffer: closing writes it.
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._stderr.close()

    def _read_line(self, do: str) -> bytes:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(self.timeout):
                    self._process.kill()
                    self._process.wait()
                    raise WorkerError(
                        f"{self.peer.name}: no answer to {do!r} in {self.timeout:g} s; worker ended"
                    )
                piece = os.read(self._process.stdout.fileno(), 65536)
                if not piece:
                    raise WorkerError(self._stopped(do))
                self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def _stopped(self, do: str) -> str:
        status = self._process.wait()
        text = f"{self.peer.name}: the worker stopped with status {_named(status)} at {do!r}"
        lines = self._last_lines()
        return text + (", its last words:\n" + "\n".join(lines) if lines else "")

    def _last_lines(self) -> list[str]:
        """The end of what the worker wrote to standard error."""
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace").splitlines()[-SHOWN_LINES:]


def pin(process: int, threads: int) -> None:
    """Lets a process run on as many processors as it may have threads.

    Not every library can be told its number of threads: XLA has a pool for each kind of operation.

    Args:
        process: Number of the process.
        threads: How many processors it gets; where there are fewer, nothing changes.
    """
    if hasattr(os, "sched_setaffinity"):
        # The last ones, because systems tend to do work of their own on the first.
        processors = sorted(os.sched_getaffinity(process))[-threads:]
        os.sched_setaffinity(process, processors)


def _named(status: int) -> str:
    """An exit status, with the name of the signal where one ended the process."""
    if status >= 0:
        return str(status)
    try:
        return f"{status} ({signal.Signals(-status).name})"
    except ValueError:
        return str(status)
