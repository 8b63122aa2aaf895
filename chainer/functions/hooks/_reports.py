"""Measuring functions and printing a report: shared by TimerHook and CUDAProfileHook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO, cast

#: Units that depend on the values of a report: one for each column, or one for each value.
_CHOSEN_UNITS = ("auto", "auto_foreach")


def unit_and_stream(
    unit: str | TextIO, file: TextIO | str | None, table: Mapping[str, float]
) -> tuple[str, TextIO | None]:
    """Returns the arguments of a report, checked.

    Args:
        unit: Name of a unit, ``'auto'`` or ``'auto_foreach'``; or a stream, as in release 4, where
            it was the first argument.
        file: A stream; or the unit, where the stream is the first argument.
        table: The units.

    Raises:
        KeyError: If there is no such unit.
    """
    if not isinstance(unit, str):
        unit, file = file if isinstance(file, str) else "auto", unit
    if unit not in table and unit not in _CHOSEN_UNITS:
        choices = ", ".join(map(repr, (*_CHOSEN_UNITS, *table)))
        raise KeyError(f"unit must be one of {choices}, got {unit!r}")
    return unit, None if isinstance(file, str) else cast("TextIO | None", file)


def texts_with_unit(values: Sequence[float], unit: str, table: Mapping[str, float]) -> list[str]:
    """Returns the texts of a column of a report.

    Args:
        values: The values, in the unit whose entry in the table is 1.
        unit: Name of a unit. ``'auto'``: the one that fits the largest value. ``'auto_foreach'``:
            the one that fits each value.
        table: Unit -> factor from the unit of the values; the largest unit first.
    """
    if unit == "auto":
        unit = _fitting(max(values, default=0), table)
    units = [_fitting(x, table) if unit == "auto_foreach" else unit for x in values]
    return [f"{x * table[own]:3.2f}{own}" for x, own in zip(values, units, strict=True)]


def _fitting(value: float, table: Mapping[str, float]) -> str:
    """Returns the largest unit in which a value is at least one, or else the smallest unit."""
    fitting = [unit for unit, factor in table.items() if value * factor >= 1]
    return fitting[0] if fitting else list(table)[-1]


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
