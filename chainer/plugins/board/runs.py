"""Reads what trainings write: logs, plots, arguments and snapshots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

#: Suffix that LogReport adds to the name of its log for the file about the run.
_ABOUT = ".about.json"

#: Files that describe a run, if a program writes them: an object in JSON.
_DESCRIPTIONS = ("hyperparameters.json", "args", "args.json", "config.json")

_PICTURES = frozenset((".png", ".svg", ".jpg", ".jpeg"))

#: Folders below the given one that are searched for runs: result/2024-05/run3.
_DEPTH = 3


def find_runs(root: Path, log_name: str) -> dict[str, Path]:
    """Returns the folders with a log by their path below the root.

    Args:
        root: Folder to search.
        log_name: Name of the log files.
    """
    found: dict[str, Path] = {}
    for depth in range(_DEPTH + 1):
        for log in root.glob("*/" * depth + log_name):
            if log.is_file():
                found[log.parent.relative_to(root).as_posix()] = log.parent
    return dict(sorted(found.items()))


def read_run(folder: Path, log_name: str) -> dict[str, Any]:
    """Returns what the page shows of a run.

    Args:
        folder: Folder of the run.
        log_name: Name of its log.

    Returns:
        dict: ``log`` (entries), ``hyperparameters`` (of the optimizers, and of a file of the
        program), ``resources`` (what the process has used), ``pictures`` (names), ``snapshots``
        (names and sizes in bytes), ``modified`` (time of the last entry, in seconds since 1970),
        and ``problem``, a text if the log cannot be read.
    """
    entries: list[Any] = []
    problem = ""
    try:
        entries = json.loads((folder / log_name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = f"{log_name}: {error}"
    about = _read_object(folder / (log_name + _ABOUT))
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return {
        "log": [_finite(cast("object", entry)) for entry in entries if isinstance(entry, dict)],
        "hyperparameters": {**_part(about, "hyperparameters"), **_description(folder)},
        "resources": _part(about, "resources"),
        "pictures": [path.name for path in files if path.suffix.lower() in _PICTURES],
        "snapshots": [
            {"name": path.name, "bytes": path.stat().st_size}
            for path in files
            if path.name.startswith(("snapshot", "model")) or path.suffix == ".npz"
        ],
        "modified": (folder / log_name).stat().st_mtime if not problem else 0,
        "problem": problem,
    }


def _finite(entry: object) -> dict[str, Any]:
    """Returns an entry without numbers that JSON does not have: NaN and infinities become None."""
    values = cast("dict[str, Any]", entry)
    return {
        key: None if isinstance(value, float) and value - value != 0 else value
        for key, value in values.items()
    }


def _description(folder: Path) -> dict[str, Any]:
    for name in _DESCRIPTIONS:
        value = _read_object(folder / name)
        if value:
            return value
    return {}


def _read_object(path: Path) -> dict[str, Any]:
    """Returns the object in a file of JSON; an empty one if there is none."""
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # a file of another kind that has this name
        return {}
    return _finite(cast("object", value)) if isinstance(value, dict) else {}


def _part(about: dict[str, Any], key: str) -> dict[str, Any]:
    value = about.get(key)
    return _finite(cast("object", value)) if isinstance(value, dict) else {}
