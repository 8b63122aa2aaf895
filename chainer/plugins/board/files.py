"""Files and folders below the folder of the board, and nothing outside of it."""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

#: Folders below the given one that are searched for runs: result/2024-05/run3.
_DEPTH = 3

#: Entries of folders that one search looks at: a home directory must not keep the board busy.
_ENTRIES = 20_000

#: Size of the largest file that describes a run, in bytes.
_OBJECT_BYTES = 1 << 20

#: Depth of lists and objects in a description that are shown.
_NESTED = 8


def find_runs(root: Path, log_name: str) -> dict[str, Path]:
    """Returns the folders with a log by their path below the root.

    Args:
        root: Folder to search.
        log_name: Name of the log files.

    Returns:
        dict: Symbolic links that lead out of the root are left out, and what is found after many
        thousand files.
    """
    top = root.resolve()
    found: dict[str, Path] = {}
    level, left = [top], _ENTRIES
    for _ in range(_DEPTH + 1):
        below: list[Path] = []
        for folder in level:
            if (folder / log_name).is_file() and is_inside(folder / log_name, top):
                found[folder.relative_to(top).as_posix()] = folder
            names, left = _names(folder, left)
            below.extend(folder / name for name in names if is_inside(folder / name, top))
        level = below
    return dict(sorted(found.items()))


def _names(folder: Path, left: int) -> tuple[list[str], int]:
    """Returns the folders in a folder, and how many entries may still be looked at."""
    names: list[str] = []
    # A training that has just been removed, or a folder of another user.
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if left <= 0:
                break
            left -= 1
            with suppress(OSError):
                if entry.is_dir():
                    names.append(entry.name)
    return sorted(names), left


def is_inside(path: Path, top: Path) -> bool:
    """Returns whether a path is below a folder after all symbolic links are followed.

    Args:
        path: The path.
        top: The folder, without symbolic links.
    """
    try:
        return path.resolve().is_relative_to(top)
    except (OSError, RuntimeError):  # a circle of links
        return False


def open_inside(path: Path, top: Path) -> BinaryIO:
    """Opens a regular file below a folder for reading.

    Args:
        path: The file.
        top: The folder, without symbolic links.

    Raises:
        OSError: If it cannot be read, is not a regular file, or is outside of the folder.
    """
    real = path.resolve()
    if not real.is_relative_to(top):
        raise PermissionError(13, "a link leads out of the folder of the board", str(path))
    # A link that was put there meanwhile is not followed. A pipe would not open before it is
    # written to.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if os.open in os.supports_dir_fd:
        descriptor = _open_below(top, real.relative_to(top).parts, flags)
    else:
        descriptor = os.open(real, flags | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(22, "not a regular file", str(path))
    return open(descriptor, "rb")


def _open_below(top: Path, parts: tuple[str, ...], flags: int) -> int:
    """Opens folder after folder, so that none of them can become a link meanwhile."""
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1] if parts else ".", flags, dir_fd=folder)
    finally:
        os.close(folder)


def read_object(path: Path, top: Path) -> dict[str, Any]:
    """Returns the object in a file of JSON; an empty one if there is none.

    Args:
        path: The file.
        top: The folder of the board.
    """
    try:
        with open_inside(path, top) as file:
            data = file.read(_OBJECT_BYTES + 1)
        value = json.loads(data) if len(data) <= _OBJECT_BYTES else None
    except (OSError, ValueError, RecursionError):  # a file of another kind that has this name
        return {}
    return presentable(value) if isinstance(value, dict) else {}


def presentable(value: Any, depth: int = 0) -> Any:
    """Returns a value without what JSON and the page do not have.

    Args:
        value: A value as ``json.loads`` returns it.
        depth: Number of lists and objects around it.

    Returns:
        The value. NaN and infinities are None, deep parts are left out, long texts are cut.
    """
    if isinstance(value, float):
        return None if value - value != 0 else value
    if isinstance(value, str):
        return value if len(value) <= 1000 else value[:1000] + "..."
    if depth == _NESTED:
        return "..." if isinstance(value, (dict, list)) else value
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key[:200]: presentable(member, depth + 1) for key, member in members.items()}
    if isinstance(value, list):
        return [presentable(item, depth + 1) for item in cast("list[Any]", value)]
    return value
