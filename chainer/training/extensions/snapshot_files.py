"""Files of snapshots in an output directory."""

from __future__ import annotations

import os


def find_snapshots(filename: str, directory: str) -> list[tuple[float, str]]:
    """Finds the files that a snapshot extension has written, the oldest first.

    A name fits if it begins with the text before the first replacement field of the format string
    and ends with the text after the last one. Hidden files are not found: they are temporary.

    Args:
        filename: Format string of the names.
        directory: Directory that is searched, not those below it.

    Returns:
        list: Pairs of the time of modification and the name, sorted. Files of the same time are
        sorted by name, as text.
    """
    prefix, opening, _ = filename.partition("{")
    suffix = filename.rpartition("}")[2] if opening else ""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    found: list[tuple[float, str]] = []
    for name in names:
        if opening:
            fits = name.startswith(prefix) and name.endswith(suffix)
        else:
            fits = name == filename
        hidden = name.startswith(".") and not prefix.startswith(".")
        path = os.path.join(directory, name)
        if fits and not hidden and os.path.isfile(path):
            found.append((os.stat(path).st_mtime, name))
    return sorted(found)


def old_snapshots(filename: str, directory: str, n_retains: int) -> list[str]:
    """Returns the names of all but the latest snapshots, the oldest first.

    Args:
        filename: Format string of the names.
        directory: Directory of the snapshots.
        n_retains: Number of the latest snapshots that are not returned.
    """
    found = find_snapshots(filename, directory)
    return [name for _, name in found[: max(len(found) - n_retains, 0)]]


def remove_old_snapshots(filename: str, directory: str, n_retains: int) -> None:
    """Removes all but the latest snapshots.

    Args:
        filename: Format string of the names.
        directory: Directory of the snapshots.
        n_retains: Number of snapshots to keep, positive.
    """
    for name in old_snapshots(filename, directory, n_retains):
        os.remove(os.path.join(directory, name))
