"""Reads what trainings write: logs, plots, arguments and snapshots."""

from __future__ import annotations

import json
import os
import threading
import time
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

#: Bounds of a response: runs (the ones that changed last), bytes of all their logs together, files
#: and pictures of a run, bytes of a picture and of a description.
_RUNS = 500
_LOG_BYTES = 16 << 20
_FILES = 1000
_PICTURES = 100
PICTURE_BYTES = 32 << 20
_OBJECT_BYTES = 1 << 16

#: Seconds that one response reads logs at most. The next one goes on where it stopped.
_READING_SECONDS = 1.0


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
        self._readers: dict[str, LogReader] = {}
        self._lock = threading.Lock()
        self._response = b""
        self._began = float("-inf")

    def to_json(self) -> bytes:
        """Returns what the page shows of the runs, by their path below the folder.

        Returns:
            bytes: Objects with ``log`` (entries; some of a long log), ``entries`` (their number),
            ``read`` (the part of the log that was read so far), ``hyperparameters`` (of the
            optimizers, and of a file of the program), ``resources`` (what the process has used),
            ``pictures`` (names), ``snapshots`` (names and sizes in bytes), ``modified`` (time of
            the last entry, in seconds since 1970), and ``problem``, a text if the log cannot be
            read.
        """
        asked = time.monotonic()
        with self._lock:
            # Requests that waited for one that began after them get its answer: many pages at once
            # cost as much as two.
            if self._began <= asked:
                self._began = time.monotonic()
                self._response = self._read()
            return self._response

    def _read(self) -> bytes:
        folders = self._newest(find_runs(self._top, self._log_name))
        # Entries of runs that were removed are forgotten.
        readers = self._readers
        self._readers = {}
        limit = _LOG_BYTES // max(len(folders), 1)
        deadline = time.monotonic() + _READING_SECONDS
        # First those that were read the least: none waits for ever.
        shares = {name: readers[name].share if name in readers else 0.0 for name in folders}
        for name in sorted(folders, key=lambda name: shares[name]):
            reader = readers.get(name)
            # Rounded, so that the next run does not make all logs be read again.
            if reader is None or not limit / 2 <= reader.limit <= limit * 2:
                reader = LogReader(folders[name] / self._log_name, self._top, limit)
            self._readers[name] = reader
            if time.monotonic() < deadline:
                reader.update(deadline)
        parts = [
            json.dumps(name).encode() + b":" + self._one(folder, self._readers[name])
            for name, folder in folders.items()
        ]
        return b"{" + b",".join(parts) + b"}"

    def _newest(self, folders: dict[str, Path]) -> dict[str, Path]:
        if len(folders) <= _RUNS:
            return folders

        def changed(name: str) -> float:
            with suppress(OSError):
                return (folders[name] / self._log_name).stat().st_mtime
            return 0.0

        names = sorted(folders, key=changed)[-_RUNS:]
        return {name: folders[name] for name in sorted(names)}

    def _one(self, folder: Path, reader: LogReader) -> bytes:
        """Returns the object of a run. A problem with one run never hides the others."""
        problem = f"{self._log_name}: {reader.problem}" if reader.problem else ""
        rest: dict[str, Any] = {
            "entries": reader.total,
            "read": round(reader.share, 3),
            "modified": reader.modified,
            "problem": problem,
        }
        rest |= self._description(folder) | _files(folder)
        return b'{"log":' + reader.entries() + b"," + json.dumps(rest).encode()[1:]

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
