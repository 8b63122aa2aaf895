"""Log files of long trainings, which snapshots rely on; see LogReport."""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import Any

from chainer.core.utils.atomic_file import replacing
from chainer.training.extensions.logs.encoded_list import EarlierEntries


def find_earlier(path: str, earlier: EarlierEntries) -> list[dict[str, Any]] | str:
    """Looks for entries in a log file, and in those that were kept under other names.

    Args:
        path: The log file.
        earlier: Describes the entries.

    Returns:
        The entries, or what was found instead: a text for people.
    """
    found: list[str] = []
    for name in (path, *kept_files(path)):
        # A pipe would not end.
        if not os.path.isfile(name):
            found.append(f"{name!r} does not exist")
            continue
        try:
            entries = _read(name)
        except (OSError, ValueError, RecursionError) as error:
            found.append(f"{name!r} cannot be read as a log: {error}")
            continue
        if earlier.begin(entries):
            return entries[: earlier.count]
        fewer = len(entries) < earlier.count
        found.append(f"{name!r} has " + (f"{len(entries):,} only" if fewer else "other entries"))
    return ", ".join(found)


def number_of_entries(path: str) -> int:
    """Returns the number of entries of a log file; 0 if it is something else."""
    try:
        return len(_read(path)) if os.path.isfile(path) else 0
    except (OSError, ValueError, RecursionError):
        return 0


def kept_files(path: str) -> list[str]:
    """Returns the copies of a log file that :func:`keep` has made, the newest first."""
    directory, name = os.path.split(path)
    pattern = re.compile(re.escape(name) + r"\.kept-([1-9][0-9]*)")
    numbers = [
        int(match[1])
        for match in map(pattern.fullmatch, os.listdir(directory or "."))
        if match is not None
    ]
    return [f"{path}.kept-{number}" for number in sorted(numbers, reverse=True)]


def keep(path: str) -> str:
    """Copies a log file that is about to be replaced, so that it is not lost.

    Args:
        path: The log file.

    Returns:
        str: Name of the copy: the name of the file, with ``.kept-1`` or the next free number.
    """
    copies = kept_files(path)
    number = 1 + (int(copies[0].rpartition("-")[2]) if copies else 0)
    name = f"{path}.kept-{number}"
    with replacing(name) as temporary:
        shutil.copyfile(path, temporary)
    return name


def _read(path: str) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    if not isinstance(entries, list):
        raise ValueError("not a JSON list")
    return entries
