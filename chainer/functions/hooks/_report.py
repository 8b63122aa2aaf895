"""Names, units and tables, shared by the profiling hooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TextIO


def function_name(function: Any) -> str:
    """Returns the name to report: the class, or the function whose gradient a node computes."""
    return function._impl_name


def with_unit(value: float, units: Sequence[str], factor: float) -> str:
    """Formats a value given in the first of the units with the largest unit that fits."""
    for unit in units[:-1]:
        if value < factor:
            return f"{value:.2f}{unit}"
        value /= factor
    return f"{value:.2f}{units[-1]}"


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], file: TextIO) -> None:
    """Prints right-aligned columns."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths)), file=file)
    file.flush()
