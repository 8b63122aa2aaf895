"""Files of snapshots in an output directory."""

from __future__ import annotations

import os
import re
import string


def _pattern(filename: str) -> re.Pattern[str]:
    """Returns a regular expression for the names that a format string can give."""
    parts = [
        re.escape(literal) + ("" if field is None else "[^/]+")
        for literal, field, _, _ in string.Formatter().parse(filename)
    ]
    return re.compile("".join(parts))


def find_snapshots(filename: str, directory: str) -> list[str]:
    """Finds the files that a snapshot extension has written, the oldest first.

    Temporary files, which begin with a dot, are not among them.

    Args:
        filename: Format string of the names.
        directory: Directory that is searched.

    Returns:
        list of str: Names, sorted by the time of modification.
    """
    pattern = _pattern(filename)
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    found: list[tuple[int, str]] = []
    for name in names:
        if pattern.fullmatch(name) and not name.startswith("."):
            status = os.stat(os.path.join(directory, name))
            found.append((status.st_mtime_ns, name))
    return [name for _, name in sorted(found)]


def remove_old_snapshots(filename: str, directory: str, n_retains: int) -> None:
    """Removes all but the latest snapshots.

    Args:
        filename: Format string of the names.
        directory: Directory of the snapshots.
        n_retains: Number of snapshots to keep, positive.
    """
    for name in find_snapshots(filename, directory)[:-n_retains]:
        os.remove(os.path.join(directory, name))
