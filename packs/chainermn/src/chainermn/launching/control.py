"""Connections of the launcher to the processes, which tell how each of them ends."""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import sys
import threading
from typing import Any, NamedTuple

from chainermn.launching.shared_memory import segments_of
from chainermn.launching.waiting import find_place

#: Environment variable by which processes find the launcher: host, port and a secret.
VARIABLE = "CHAINERMN_LAUNCHER"
#: A host that does not answer the network for so long is lost. Shorter breaks are repaired by TCP.
SILENT_SECONDS = 20
#: Errors of connections to a host that does not answer.
_SILENT = (errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH)


class End(NamedTuple):
    """How a process ended.

    Attributes:
        rank: Its rank.
        pid: Its process number.
        host: Its host.
        kind: ``failed`` (an exception), ``exited`` (``sys.exit`` with a status), ``early`` (it
            ended well, but others wait for it), ``silent`` (its host does not answer) or ``lost``
            (it ended without telling why).
        text: The traceback of an exception, or where others wait.
        status: Exit status.
    """

    rank: int
    pid: int
    host: str
    kind: str
    text: str
    status: int


class ControlServer:
    """Listens to the processes.

    A process that is killed closes its connection, which is noticed at once.

    Args:
        address: Address to listen on; all addresses where processes are on other hosts.
        host: Name of this host for the processes.
    """

    def __init__(self, address: str = "127.0.0.1", host: str = "127.0.0.1") -> None:
        self._secret = secrets.token_hex(16)
        self._socket = socket.create_server((address, 0))
        self.variable = f"{host}:{self._socket.getsockname()[1]}:{self._secret}"
        self._lock = threading.Lock()
        #: Rank -> process number and host, of those that have connected.
        self.processes: dict[int, tuple[int, str]] = {}
        #: Ends that are not regular, in the order in which they happened.
        self.ends: list[End] = []
        #: Ranks that have ended, in any way.
        self.ended: set[int] = set()
        #: Rank -> where the process was when it was asked last; see :meth:`ask`.
        self.places: dict[int, dict[str, Any]] = {}
        #: Host -> names of the segments of shared memory that its processes have told.
        self.segments: dict[str, set[str]] = {}
        self._connections: dict[int, socket.socket] = {}
        self.changed = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("r", encoding="utf-8") as lines:
            hello = _message(lines.readline())
            if hello.get("secret") != self._secret:
                return
            rank, pid, host = int(hello["rank"]), int(hello["pid"]), str(hello["host"])
            with self._lock:
                self.processes[rank] = pid, host
                self._connections[rank] = connection
            end: dict[str, Any] = {}
            _watch_host(connection)
            try:
                while (end := _message(lines.readline())).get("kind") in ("place", "segments"):
                    if end["kind"] == "place":
                        self.places[rank] = end
                    else:
                        self.segments.setdefault(host, set()).update(end["names"])
            except OSError as error:
                # Otherwise it was reset by a process that was killed.
                end = {"kind": "silent"} if error.errno in _SILENT else {}
            kind = end.get("kind", "lost")
            with self._lock:
                self.ended.add(rank)
                if kind != "done":
                    status = int(end.get("status", 1))
                    self.ends.append(End(rank, pid, host, kind, end.get("text", ""), status))
            self.changed.set()
            # A process that has failed waits until the launcher ends it.
            try:
                lines.readline()
            except OSError:
                pass

    def processes_here(self) -> dict[int, int]:
        """Returns the numbers of the processes on this host that have connected, by rank."""
        own = socket.gethostname()
        # Under the lock: processes connect while others run.
        with self._lock:
            return {rank: pid for rank, (pid, host) in self.processes.items() if host == own}

    def ask(self) -> None:
        """Asks the processes that run where they are; the answers come in :attr:`places`."""
        with self._lock:
            ended = sorted(self.ended)
            running = [c for rank, c in self._connections.items() if rank not in self.ended]
        for connection in running:
            try:
                connection.sendall((json.dumps({"ended": ended}) + "\n").encode())
            except OSError:
                pass  # it is ending now

    def end_of(self, rank: int, kind: str, text: str, status: int) -> None:
        """Records an end that the process itself did not tell."""
        pid, host = self.processes[rank]
        with self._lock:
            self.ends.append(End(rank, pid, host, kind, text, status))

    def close(self) -> None:
        """Stops listening, which ends processes that wait."""
        self._socket.close()
        with self._lock:
            for connection in self._connections.values():
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # the process is gone


class ControlClient:
    """The side of a process.

    Args:
        variable: Value of the environment variable :data:`VARIABLE`.
        rank: Rank of this process.
        pid: Its process number.
    """

    def __init__(self, variable: str, rank: int, pid: int) -> None:
        host, port, secret = variable.rsplit(":", 2)
        self._socket = socket.create_connection((host, int(port)), timeout=30)
        self._socket.settimeout(None)
        _watch_host(self._socket)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._send({"secret": secret, "rank": rank, "pid": pid, "host": socket.gethostname()})
        threading.Thread(target=self._answer, name="chainer launch", daemon=True).start()

    def _send(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._socket.sendall((json.dumps(message) + "\n").encode())

    def _answer(self) -> None:
        """Answers the questions of the launcher."""
        try:
            with self._socket.makefile("r", encoding="utf-8") as lines:
                for line in lines:
                    place = find_place(_message(line).get("ended", []))
                    self._send({"kind": "place", **place._asdict()})
        except OSError as error:
            if error.errno in _SILENT:
                # MPI would wait forever, and the launcher cannot reach this process to end it.
                print(
                    f"chainer launch: the host of the launcher did not answer for {SILENT_SECONDS} "
                    "seconds; this process ends",
                    file=sys.stderr,
                    flush=True,
                )
                os._exit(1)
        except ValueError:
            pass  # closed
        finally:
            self._closed.set()

    def tell(self, kind: str, text: str = "", status: int = 0) -> None:
        """Tells how this process ends; see :class:`End`."""
        self._send({"kind": kind, "text": text, "status": status})

    def tell_segments(self) -> None:
        """Tells which shared memory of MPI this process maps.

        The launcher also looks for itself, now and then. A process that is killed right after the
        start of MPI is gone before that.
        """
        self._send({"kind": "segments", "names": sorted(segments_of())})

    def wait(self, seconds: float) -> None:
        """Waits until the launcher ends this process, or has ended itself."""
        self._closed.wait(seconds)

    def close(self) -> None:
        """Closes this side of the connection; for children, which must not keep it open."""
        self._socket.close()


def _watch_host(connection: socket.socket) -> None:
    """Makes a connection fail when the other host is cut off: TCP alone would wait for hours."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Systems name some of them otherwise, or lack them; then their own times hold.
    for name, value in {
        "TCP_KEEPIDLE": SILENT_SECONDS // 4,
        "TCP_KEEPINTVL": SILENT_SECONDS // 4,
        "TCP_KEEPCNT": 3,
        "TCP_USER_TIMEOUT": 1000 * SILENT_SECONDS,
    }.items():
        option = getattr(socket, name, None)
        if option is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _message(line: str) -> dict[str, Any]:
    try:
        return dict(json.loads(line)) if line else {}
    except ValueError:
        return {}
