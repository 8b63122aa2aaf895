"""A worker process as the driver sees it: requests in, replies out."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers import Peer, thread_environment

WORKER = Path(__file__).resolve().parent / "workers" / "worker.py"


class WorkerError(Exception):
    """A worker answered with an error, stopped, or gave no answer in time."""


class Client:
    """Starts the worker of a peer and talks to it.

    Args:
        peer: Whose interpreter to start.
        threads: Number of threads its libraries may use.
        timeout: Seconds to wait for one answer.
    """

    def __init__(self, peer: Peer, threads: int, timeout: float = 600.0) -> None:
        self.peer = peer
        self.timeout = timeout
        # -I: neither the current directory nor PYTHONPATH may decide which chainer is imported.
        self._process = subprocess.Popen(
            [peer.python, "-I", "-W", "ignore", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=thread_environment(threads),
            cwd=tempfile.gettempdir(),
        )
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
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

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
        return f"{self.peer.name}: the worker stopped with status {status} at {do!r}"
