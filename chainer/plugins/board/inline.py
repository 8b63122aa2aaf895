"""The board in a notebook (``chainer.board``)."""

from __future__ import annotations

import os
import threading
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Self

from chainer.plugins.board.server import BoardServer

#: Notebooks on this machine may show the board: Jupyter's pages, and VS Code.
_NOTEBOOKS = "http://localhost:* http://127.0.0.1:* vscode-webview:"

#: Boards that are open, by folder and name of the logs: a cell that is run again opens no other.
_boards: dict[tuple[str, str], Board] = {}


class Board:
    """A board that runs in this process. :func:`board` makes it.

    The last line of a cell of a notebook shows its page. Elsewhere its text is the address.

    Attributes:
        url: Address of the page.
        height: Height of the page in a notebook, in pixels.
    """

    def __init__(self, folder: Path, log_name: str, height: int) -> None:
        self.height = height
        self._folder = folder
        self._key = (os.path.realpath(folder), log_name)
        self._server = BoardServer(folder, 0, log_name)
        self._server.frame_ancestors = _NOTEBOOKS
        self.url = self._server.url
        # A daemon: the board ends with the process.
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="chainer-board", daemon=True
        )
        self._thread.start()
        _boards[self._key] = self

    def close(self) -> None:
        """Ends the board. Its page stays as it is, and gets no new values."""
        if _boards.get(self._key) is self:
            del _boards[self._key]
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self.url if _boards.get(self._key) is self else "closed"
        return f"<Board of {os.fspath(self._folder)!r}: {state}>"

    def _repr_html_(self) -> str:
        if _boards.get(self._key) is not self:
            return escape(repr(self))
        port = self.url.rstrip("/").rpartition(":")[2]
        return (
            f'<iframe src="{self.url}" width="100%" height="{self.height}" '
            'style="border: 1px solid #888" title="Curves of the trainings"></iframe>'
            f'<p><a href="{self.url}" target="_blank">{self.url}</a> '
            "(empty above if the notebook runs on another machine: "
            f"<code>ssh -L {port}:127.0.0.1:{port} MACHINE</code>)</p>"
        )


def board(folder: str | os.PathLike[str] = "result", log: str = "log", height: int = 600) -> Board:
    """Shows the curves of trainings in a notebook, while they go on.

    It starts the server of ``chainer board`` in a thread of this process. The server answers this
    machine only, and ends with the process. A second call for the same folder returns the board
    that is open.

    Args:
        folder: Folder with runs, or of one run.
        log: Name of the log files, as :class:`~chainer.training.extensions.LogReport` has it.
        height: Height in a notebook, in pixels.

    Returns:
        Board: An object that a notebook shows as the page, with the attribute ``url`` and the
        method ``close``. It is a context manager, too.

    Raises:
        NotADirectoryError: If ``folder`` is not a folder.
        ValueError: If ``height`` is not positive.

    Example:
        >>> import os
        >>> os.makedirs("result", exist_ok=True)
        >>> with chainer.board("result") as view:
        ...     print(view.url)
        http://127.0.0.1:...
    """
    if height < 1:
        raise ValueError(f"height must be positive, got {height!r}")
    path = Path(folder)
    if not path.is_dir():
        raise NotADirectoryError(
            f"folder must be a folder that exists, such as the out of a trainer, got {str(path)!r}"
        )
    found = _boards.get((os.path.realpath(path), log))
    if found is not None:
        found.height = height
        return found
    return Board(path, log, height)
