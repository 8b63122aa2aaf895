"""The web server of the board: the page, the runs as JSON, and pictures of runs."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from chainer.plugins.board.runs import PICTURE_TYPES, Runs

#: Connections at the same time. A browser opens six.
_CONNECTIONS = 32

#: Seconds after which a connection is closed, whatever its state is.
_CONNECTION_SECONDS = 20.0

#: Seconds that one read of a request may take.
_REQUEST_SECONDS = 5.0

#: Seconds that a new connection waits until the oldest one has ended, if there are too many.
_SPACE_SECONDS = 1.0

#: Bytes of the responses that are being sent. A connection whose client reads slowly is closed for
#: another one, the oldest one first.
_RESPONSE_BYTES = 128 << 20

#: Names of this machine. Another name in a request is one that its sender made point here (DNS
#: rebinding). The port may differ: it does behind `ssh -L`.
_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)

#: Types of the files of the page.
_PAGE_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

#: The page runs its own programs and styles only. Blobs are the files that it lets users save.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

#: A picture may contain a program (SVG). It runs nowhere, also if it is opened as a page.
_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class BoardServer(ThreadingHTTPServer):
    """Serves the runs below a folder.

    It listens on this machine only, and answers only requests that were sent to a name of this
    machine and do not come from pages of others. Logs are read when a page asks, from where the
    last reading ended, so a page shows a training that goes on.

    Args:
        root: Folder with runs, or of one run.
        port: Port; 0 for a free one.
        log_name: Name of the log files, as LogReport has it.
    """

    daemon_threads = True
    #: Pages that may show the board in a frame, as ``frame-ancestors`` of a content security policy
    #: has them. Notebooks set it.
    frame_ancestors = "'none'"
    # Connections that wait to be accepted. With the default of 5 a browser may wait for seconds.
    request_queue_size = 128

    def __init__(self, root: Path, port: int = 0, log_name: str = "log") -> None:
        self.runs = Runs(root, log_name)
        self.page = _page()
        self._open: dict[socket.socket, float] = {}
        # Data that is being sent; clients share a response.
        self._responses: dict[socket.socket, bytes] = {}
        self._changed = threading.Condition()
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begins a thread for a connection; the oldest one is closed if there are too many."""
        with self._changed:
            is_space = len(self._open) < _CONNECTIONS
            if not is_space:
                _shut(min(self._open, key=lambda connection: self._open[connection]))
                # The thread of that connection ends at once, unless it is computing.
                is_space = self._changed.wait_for(
                    lambda: len(self._open) < _CONNECTIONS, timeout=_SPACE_SECONDS
                )
            if is_space:
                self._open[request] = time.monotonic()
        if is_space:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """Ends a connection."""
        with self._changed:
            self._open.pop(request, None)
            self._responses.pop(request, None)
            self._changed.notify_all()
        super().shutdown_request(request)

    def begin_response(self, connection: socket.socket, content: bytes) -> None:
        """Notes what is sent; closes the oldest connections if all responses are too large.

        Args:
            connection: The connection.
            content: The response.
        """
        with self._changed:
            self._responses[connection] = content
            for other in sorted(self._responses, key=lambda one: self._open.get(one, 0.0)):
                sizes = {id(one): len(one) for one in self._responses.values()}
                if sum(sizes.values()) <= _RESPONSE_BYTES:
                    break
                if other is not connection:
                    _shut(other)
                    del self._responses[other]

    def service_actions(self) -> None:
        """Closes connections that are too old. Called twice a second."""
        oldest = time.monotonic() - _CONNECTION_SECONDS
        with self._changed:
            for connection, began in self._open.items():
                if began < oldest:
                    _shut(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints nothing for a connection that was closed; other errors are printed."""
        import sys

        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def _shut(connection: socket.socket) -> None:
    # The thread of the connection gets an error or the end of the data, and closes it.
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _page() -> dict[str, tuple[bytes, str]]:
    """Returns the files of the page and their types, by their paths in requests."""
    found: dict[str, tuple[bytes, str]] = {}
    for file in resources.files("chainer.plugins.board").joinpath("page").iterdir():
        kind = _PAGE_TYPES.get(os.path.splitext(file.name)[1])
        if kind is not None:
            found["/" if file.name == "index.html" else "/" + file.name] = file.read_bytes(), kind
    return found


class _Handler(BaseHTTPRequestHandler):
    server: BoardServer  # pyright: ignore[reportIncompatibleVariableOverride]
    timeout = _REQUEST_SECONDS
    server_version = "chainer-board"
    sys_version = ""

    def do_GET(self) -> None:
        try:
            parts = urlsplit(self.path)
        except ValueError:  # http://[
            self.send_error(400, "The request has no valid address")
            return
        path = unquote(parts.path)
        if not self._is_local(path) or (parts.netloc and not _LOCAL.fullmatch(parts.netloc)):
            self.send_error(403, "Only pages of the board may ask")
        elif path in self.server.page:
            self._send(*self.server.page[path], _PAGE_POLICY)
        elif path == "/api/runs":
            runs = self.server.runs.to_json(unquote(parts.query.removeprefix("state=")))
            self._send(runs, "application/json", "default-src 'none'")
        elif path.startswith("/files/"):
            self._send_picture(path.removeprefix("/files/"))
        else:
            self.send_error(404)

    def _is_local(self, path: str) -> bool:
        """Returns whether the request was sent to this machine, and not by a page of others."""
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or not _LOCAL.fullmatch(hosts[0].strip()):
            return False
        origin = self.headers.get("Origin")
        if origin is not None and origin.lower() != f"http://{hosts[0].strip().lower()}":
            return False
        # Browsers tell who asks. Others may have links to the page, and nothing else.
        site = self.headers.get("Sec-Fetch-Site", "none")
        return site in ("none", "same-origin") or path == "/"

    def _send_picture(self, path: str) -> None:
        run, _, name = path.rpartition("/")
        kind = PICTURE_TYPES.get(os.path.splitext(name)[1].lower())
        content = None if kind is None else self.server.runs.picture(run, name)
        if kind is None or content is None:
            self.send_error(404)
        else:
            self._send(content, kind, _PICTURE_POLICY)

    def _send(self, content: bytes, kind: str, policy: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        ancestors = f"frame-ancestors {self.server.frame_ancestors}"
        policy = policy.replace("frame-ancestors 'none'", ancestors)
        self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.server.begin_response(self.connection, content)
        self.wfile.write(content)

    def end_headers(self) -> None:
        """Adds what every response has, errors included."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing: the page asks every two seconds."""
