"""The web server of the board: the page, the runs as JSON, and pictures of runs."""

from __future__ import annotations

import json
import mimetypes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from urllib.parse import unquote, urlsplit

from chainer.plugins.board.runs import find_runs, read_run


class BoardServer(ThreadingHTTPServer):
    """Serves the runs below a folder.

    It listens on this machine only. Each request reads the files again, so a page that asks again
    shows a training that goes on.

    Args:
        root: Folder with runs, or of one run.
        port: Port; 0 for a free one.
        log_name: Name of the log files, as LogReport has it.
    """

    daemon_threads = True

    def __init__(self, root: Path, port: int = 0, log_name: str = "log") -> None:
        self.root = root
        self.log_name = log_name
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: BoardServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path == "/":
            page = resources.files("chainer.plugins.board").joinpath("page.html").read_bytes()
            self._send(page, "text/html; charset=utf-8")
        elif path == "/api/runs":
            runs = find_runs(self.server.root, self.server.log_name)
            found = {name: read_run(folder, self.server.log_name) for name, folder in runs.items()}
            self._send(json.dumps(found).encode(), "application/json")
        elif path.startswith("/files/"):
            self._send_picture(path.removeprefix("/files/"))
        else:
            self.send_error(404)

    def _send_picture(self, path: str) -> None:
        run, _, name = path.rpartition("/")
        folder = find_runs(self.server.root, self.server.log_name).get(run or ".")
        # Pictures of runs and nothing else: the path is never joined to the root.
        if folder is None or name not in read_run(folder, self.server.log_name)["pictures"]:
            self.send_error(404)
            return
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self._send((folder / name).read_bytes(), kind)

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing: the page asks every two seconds."""
