"""Printing of tables and JSON."""

from __future__ import annotations

import difflib
import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

_NARROWEST = 20


def print_json(value: Any) -> None:
    """Prints a value as indented JSON."""
    print(json.dumps(value, indent=2))


def width() -> int | None:
    """Returns how many characters fit a line: those of the terminal, None where there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints aligned columns; on a terminal the last one is broken into lines that fit."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    indent = sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = width()
    for line in lines:
        cells = [cell.ljust(size) for cell, size in zip(line, widths, strict=True)]
        pieces = [cells[-1].rstrip()]
        if room is not None:
            pieces = textwrap.wrap(pieces[0], max(room - indent, _NARROWEST)) or [""]
        print("  ".join([*cells[:-1], pieces[0]]).rstrip())
        for piece in pieces[1:]:
            print(" " * indent + piece)


def print_indented(text: str, first: str, rest: str) -> None:
    """Prints lines of text behind an indentation, broken to fit the terminal if there is one."""
    room = width()
    for line in text.splitlines() or [""]:
        pieces = [line] if room is None else textwrap.wrap(line, max(room - len(rest), _NARROWEST))
        for piece in pieces or [""]:
            print((first + piece).rstrip())
            first = rest


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns ``"; did you mean 'x'?"`` if there are similar names, else nothing."""
    near = difflib.get_close_matches(name, list(known), n=3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
