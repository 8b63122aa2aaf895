"""What the hooks share that measure functions and print a report."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TextIO, cast


def unit_and_stream(
    unit: str | TextIO, file: TextIO | str | None, units: Collection[str], choices: str
) -> tuple[str, TextIO | None]:
    """Returns the arguments of a report, checked.

    Args:
        unit: Name of a unit or ``'auto'``; or a stream, as in release 4, where it was the first
            argument.
        file: A stream; or the unit, where the stream is the first argument.
        units: Names of the units.
        choices: The choices, for the message.

    Raises:
        ValueError: If there is no such unit.
    """
    if not isinstance(unit, str):
        unit, file = file if isinstance(file, str) else "auto", unit
    if unit != "auto" and unit not in units:
        raise ValueError(f"unit must be {choices}, got {unit!r}")
    return unit, None if isinstance(file, str) else cast("TextIO | None", file)


def summed_times(history: Iterable[tuple[str, float]]) -> dict[str, dict[str, Any]]:
    """Returns the time and the number of calls by name.

    Args:
        history: Name and seconds of each call.
    """
    summary: dict[str, dict[str, Any]] = {}
    for name, elapsed in history:
        record = summary.setdefault(name, {"elapsed_time": 0.0, "occurrence": 0})
        record["elapsed_time"] += elapsed
        record["occurrence"] += 1
    return summary
