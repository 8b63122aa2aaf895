"""Reads what trainings write: logs, plots, arguments and snapshots."""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from chainer.plugins.board.files import find_runs, open_inside, presentable, read_object
from chainer.plugins.board.log_reader import LogReader

#: Suffix that LogReport adds to the name of its log for the file about the run.
_ABOUT = ".about.json"

#: Files that describe a run, if a program writes them: an object in JSON.
_DESCRIPTIONS = ("hyperparameters.json", "args", "args.json", "config.json")

#: Pictures that are served, and their types. Nothing is guessed from contents.
PICTURE_TYPES = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
}

#: Bounds of a response: runs (the ones that changed last), bytes of all their logs together (a
#: million entries of five numbers), files and pictures of a run, bytes of a picture and of a
#: description.
_RUNS = 1000
_LOG_BYTES = 48 << 20
_FILES = 1000
_PICTURES = 100
PICTURE_BYTES = 32 << 20
_OBJECT_BYTES = 1 << 16

#: Seconds that one response reads logs at most. The next one goes on where it stopped.
_READING_SECONDS = 1.0

#: Seconds after which the files of a run are looked at again, although neither its log nor its
#: folder has changed: a plot that was written over.
_LOOKING_SECONDS = 10.0

#: States of a run that are remembered: a page that asks for what is new since one of them gets
#: that alone.
_STATES = 100


class _Run:
    """A run as a page sees it, and since when.

    Args:
        folder: Folder of the run.
        reader: Its log.
    """

    def __init__(self, folder: Path, reader: LogReader) -> None:
        self.folder = folder
        self.reader = reader
        # Pairs of the count of looks at which it changed, and of the entries that it had.
        self._states: deque[tuple[int, tuple[int, int]]] = deque(maxlen=_STATES)
        self._rest = b""
        self._seen: object = None
        self._looked = float("-inf")

    def look(self, number: int, files: Callable[[], dict[str, Any]]) -> bool:
        """Looks whether the run has changed.

        Args:
            number: Count of looks.
            files: Returns what is known of the run beside its log.

        Returns:
            bool: Whether it has.
        """
        reader, changed = self.reader, 0
        with suppress(OSError):  # a run that has just been removed
            changed = self.folder.stat().st_mtime_ns
        seen = (changed, reader.modified, reader.total, reader.share, reader.problem)
        now = time.monotonic()
        if seen == self._seen and now - self._looked < _LOOKING_SECONDS:
            return False
        self._seen, self._looked = seen, now
        rest = json.dumps(files()).encode()[1:]
        if rest == self._rest:
            return False
        self._rest = rest
        self._states.append((number, (reader.version, reader.kept)))
        return True

    def since(self, number: int) -> bytes | None:
        """Returns what is new since a look, as an object in JSON; None if nothing is.

        Args:
            number: Count of the look; 0 for all.
        """
        if self._states and self._states[-1][0] <= number:
            return None
        version, kept = next(
            (state for count, state in reversed(self._states) if count <= number), (-1, 0)
        )
        first = kept if version == self.reader.version else 0
        return b"{" + self.reader.entries(first) + b"," + self._rest


class Runs:
    """The runs below a folder.

    What was read is kept, so that a log of any size costs the time of its new entries.

    Args:
        root: Folder with runs, or of one run.
        log_name: Name of the log files.
    """

    def __init__(self, root: Path, log_name: str) -> None:
        self._top = root.resolve()
        self._log_name = log_name
        self._runs: dict[str, _Run] = {}
        self._lock = threading.Lock()
        self._began = float("-inf")
        # The count of looks at which something had changed, and which server has counted: a page
        # may be older than it.
        self._count = 0
        self._server = secrets.token_hex(4)
        # The last response with all runs, and its count: clients that read slowly share it.
        self._whole = -1, b""

    def to_json(self, state: str = "") -> bytes:
        """Returns what the page shows of the runs.

        Args:
            state: ``state`` of a former response: only runs that have changed are returned then,
                with their new entries.

        Returns:
            bytes: An object with ``state``, ``names`` (paths of all runs below the folder), and
            ``runs`` by name: objects with ``from``, ``keys``, ``shapes`` and ``rows`` (entries; of
            a long log some of them), ``entries`` (their number), ``read`` (the part of the log that
            was read so far), ``hyperparameters`` (of the optimizers, and of a file of the program),
            ``resources`` (what the process has used), ``pictures`` (names), ``snapshots`` (names
            and sizes in bytes), ``modified`` (time of the last entry, in seconds since 1970), and
            ``problem``, a text if the log cannot be read.
        """
        asked = time.monotonic()
        server, _, count = state.partition("-")
        with self._lock:
            # Requests that waited for one that began after them see what it saw: many pages at
            # once cost as much as two.
            if self._began <= asked:
                self._began = time.monotonic()
                self._look()
            known = server == self._server and count.isascii() and count.isdecimal()
            after = int(count) if known and len(count) < 20 else 0
            if after:
                return self._since(after)
            if self._whole[0] != self._count:
                self._whole = self._count, self._since(0)
            return self._whole[1]

    def _since(self, after: int) -> bytes:
        changed = ((name, run.since(after)) for name, run in self._runs.items())
        parts = [json.dumps(name).encode() + b":" + one for name, one in changed if one]
        head = {"state": f"{self._server}-{self._count}", "names": list(self._runs)}
        return json.dumps(head).encode()[:-1] + b', "runs": {' + b",".join(parts) + b"}}"

    def _look(self) -> None:
        folders = self._newest(find_runs(self._top, self._log_name))
        limit = _LOG_BYTES // max(len(folders), 1)
        runs: dict[str, _Run] = {}  # those that were removed are forgotten
        for name, folder in folders.items():
            run = self._runs.get(name)
            # Rounded, so that the next run does not make all logs be read again.
            if run is None or not limit / 2 <= run.reader.limit <= limit * 2:
                run = _Run(folder, LogReader(folder / self._log_name, self._top, limit))
            runs[name] = run
        changed = list(runs) != list(self._runs)
        self._runs = runs
        deadline = time.monotonic() + _READING_SECONDS
        # First those that were read the least: none waits for ever.
        for run in sorted(runs.values(), key=lambda run: run.reader.share):
            if time.monotonic() < deadline:
                run.reader.update(deadline)
            changed |= run.look(self._count + 1, lambda run=run: self._about(run))
        self._count += changed

    def _newest(self, folders: dict[str, Path]) -> dict[str, Path]:
        if len(folders) <= _RUNS:
            return folders

        def changed(name: str) -> float:
            with suppress(OSError):
                return (folders[name] / self._log_name).stat().st_mtime
            return 0.0

        names = sorted(folders, key=changed)[-_RUNS:]
        return {name: folders[name] for name in sorted(names)}

    def _about(self, run: _Run) -> dict[str, Any]:
        """Returns what is known of a run beside its entries."""
        reader = run.reader
        about: dict[str, Any] = {
            "entries": reader.total,
            "read": round(reader.share, 3),
            "modified": reader.modified,
            "problem": f"{self._log_name}: {reader.problem}" if reader.problem else "",
        }
        return about | self._description(run.folder) | _files(run.folder)

    def _description(self, folder: Path) -> dict[str, Any]:
        about = read_object(folder / (self._log_name + _ABOUT), self._top)
        found: dict[str, Any] = {}
        for name in _DESCRIPTIONS:
            found = read_object(folder / name, self._top)
            if found:
                break
        return {
            "hyperparameters": _bounded({**_part(about, "hyperparameters"), **found}),
            "resources": _bounded(_part(about, "resources")),
        }

    def picture(self, run: str, name: str) -> bytes | None:
        """Returns a picture of a run; None if there is none of this name.

        Args:
            run: Path of the run below the folder.
            name: Name of the file.
        """
        folder = find_runs(self._top, self._log_name).get(run or ".")
        # Pictures of runs and nothing else: a name is one of those that the folder lists.
        if folder is None or name not in _files(folder)["pictures"]:
            return None
        try:
            with open_inside(folder / name, self._top) as file:
                content = file.read(PICTURE_BYTES + 1)
        except OSError:
            return None
        return content if len(content) <= PICTURE_BYTES else None


def _files(folder: Path) -> dict[str, Any]:
    """Returns pictures and snapshots of a run. Files may be removed meanwhile."""
    pictures: list[str] = []
    snapshots: list[dict[str, Any]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if not entry.is_file():
                    continue
                if os.path.splitext(entry.name)[1].lower() in PICTURE_TYPES:
                    pictures.append(entry.name)
                if entry.name.startswith(("snapshot", "model")) or entry.name.endswith(".npz"):
                    snapshots.append({"name": entry.name, "bytes": entry.stat().st_size})
            if len(snapshots) >= _FILES or len(pictures) >= _FILES:
                break
    return {
        "pictures": sorted(pictures)[:_PICTURES],
        "snapshots": sorted(snapshots, key=lambda file: file["name"]),
    }


def _part(about: dict[str, Any], key: str) -> dict[str, Any]:
    value = about.get(key)
    return presentable(value) if isinstance(value, dict) else {}


def _bounded(description: dict[str, Any]) -> dict[str, Any]:
    """Returns a description without its largest values if it is too large."""
    sizes = {key: len(json.dumps(value)) for key, value in description.items()}
    total = 0
    kept: set[str] = set()
    for key in sorted(sizes, key=lambda key: sizes[key]):
        total += len(key) + sizes[key]
        if total > _OBJECT_BYTES:
            break
        kept.add(key)
    return {key: value for key, value in description.items() if key in kept}
