"""Printing of tables and JSON."""

from __future__ import annotations

import difflib
import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from chainer.core.registry.entry import Entry

#: Width of the last column of a table on a narrow terminal. It may run over the edge then.
_MIN_WIDTH = 20


def print_json(value: Any) -> None:
    """Prints a value as indented JSON.

    Args:
        value: The value.
    """
    print(json.dumps(value, indent=2))


def width() -> int | None:
    """Returns the width of the terminal in characters; None if the output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints aligned columns. On a terminal, the last column is wrapped.

    On a terminal rich draws the table if it is installed (the extra ``rich``).

    Args:
        header: Titles of the columns.
        rows: Cells of each row.
    """
    lines = [list(header), *(list(row) for row in rows)]
    if width() is not None and _print_with_rich(lines):
        return
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    indent = sum(widths[:-1]) + 2 * (len(widths) - 1)
    columns = width()
    for line in lines:
        cells = [cell.ljust(size) for cell, size in zip(line, widths, strict=True)]
        pieces = [cells[-1].rstrip()]
        if columns is not None:
            pieces = textwrap.wrap(pieces[0], max(columns - indent, _MIN_WIDTH)) or [""]
        print("  ".join([*cells[:-1], pieces[0]]).rstrip())
        for piece in pieces[1:]:
            print(" " * indent + piece)


def _print_with_rich(lines: list[list[str]]) -> bool:
    """Prints a table by rich; returns False where rich is not installed."""
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, title in enumerate(lines[0]):
        # The first column is what readers copy: it is never cut.
        table.add_column(title, overflow="fold", no_wrap=i == 0)
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    Console().print(table)
    return True


def print_indented(text: str, first: str, rest: str) -> None:
    """Prints indented text. On a terminal, it is wrapped.

    Args:
        text: The text.
        first: Indentation of the first line.
        rest: Indentation of the other lines.
    """
    columns = width()
    most = None if columns is None else max(columns - len(rest), _MIN_WIDTH)
    for line in text.splitlines() or [""]:
        pieces = [line] if most is None else textwrap.wrap(line, most)
        for piece in pieces or [""]:
            print((first + piece).rstrip())
            first = rest


def distribution_of(entry: Entry) -> str:
    """Returns the distribution that supplies an entry, such as ``'chainer 8.0.0'``.

    Args:
        entry: The entry.
    """
    provenance = entry.provenance
    if provenance is None or not provenance.distribution:
        return entry.origin
    return f"{provenance.distribution} {provenance.version}".rstrip()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns ``"; did you mean 'x'?"`` if there are similar names, else an empty text.

    Args:
        name: The name that is not known.
        known: The known names.
    """
    near = difflib.get_close_matches(name, list(known), n=3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
