"""Results as tables for people and as JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.driver import NO_CASE, Result, Row

#: Number of rows named when a budget is missed.
SHOWN = 15


def format_result(result: Result) -> str:
    """Returns the table of one benchmark with its summary, budgets, notes and errors."""
    names = [name for name in result.peers if name not in result.unavailable]
    threads = f"{result.threads} thread{'s' if result.threads != 1 else ''}"
    lines = [f"== {result.name}: {result.title} [{result.unit}, min (median), {threads}]"]
    for name in result.peers:
        if name in result.unavailable:
            lines.append(f"   {name}: peer not available ({result.unavailable[name]})")
        else:
            versions = result.versions.get(name, {})
            lines.append(f"   {name}: " + ", ".join(f"{k} {v}" for k, v in versions.items()))
    base = result.base
    others = [name for name in names if name != base] if base in names else []
    header = ["", *names, *(f"{name}/{base}" for name in others)]
    table = [header]
    for row in result.rows:
        cells = [row.label or row.case]
        cells += [_value(row, name, result) for name in names]
        cells += [_ratio(row, name, base) for name in others]
        table.append(cells)
    lines += _aligned(table)
    lines += _summary(result, others)
    lines += _budgets(result)
    lines += [f"   note: {note}" for note in result.notes]
    lines += _missing(result)
    lines += ["   ERROR " + error.rstrip().replace("\n", "\n     ") for error in result.errors]
    return "\n".join(lines)


def ratios(result: Result, peer: str, base: str | None = None) -> dict[str, float]:
    """Returns peer / base of the smallest values, for each row that both have.

    Args:
        result: What a benchmark gave.
        peer: Name of a peer, or ``"best"``: the fastest of other frameworks in each row.
        base: Name of another; by default the one that the benchmark compares with.
    """
    base = result.base if base is None else base
    found = {}
    for row in result.rows:
        value = _best(row) if peer == "best" else row.best(peer)
        reference = row.best(base)
        if value is not None and reference:
            found[row.label] = value / reference
    return found


def _best(row: Row) -> float | None:
    """Returns the smallest value of the peers that are not states of this project."""
    others = [name for name in row.samples if not name.startswith(("ours", "before"))]
    values = [value for name in others if (value := row.best(name)) is not None]
    return min(values, default=None)


def geometric_mean(values: list[float]) -> float:
    """Returns the geometric mean of positive numbers."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


def write_json(path: Path, machine: dict[str, Any], results: list[Result]) -> None:
    """Writes machine, versions, all samples (seconds or bytes per operation) and ratios."""
    document = {"machine": machine, "benchmarks": [_as_dict(result) for result in results]}
    path.write_text(json.dumps(document, indent=1) + "\n")


def _missing(result: Result) -> list[str]:
    """Why cells are empty; the cases of one peer that share a reason in one line."""
    cases: dict[tuple[str, str], list[str]] = {}
    for (case, name), why in result.missing.items():
        if why not in ("error", NO_CASE):
            cases.setdefault((name, why), []).append(case)
    lines = []
    for (name, why), found in cases.items():
        which = ", ".join(found) if len(found) <= 5 else f"{len(found)} cases"
        lines.append(f"   n/a: {which}; {name}: {why}")
    return lines


def _value(row: Row, peer: str, result: Result) -> str:
    best, middle = row.best(peer), row.middle(peer)
    if best is None or middle is None:
        return "error" if result.missing.get((row.case, peer)) == "error" else "n/a"
    return f"{_digits(best * result.scale)} ({_digits(middle * result.scale)})"


def _ratio(row: Row, peer: str, base: str) -> str:
    best, reference = row.best(peer), row.best(base)
    return f"{best / reference:.2f}" if best is not None and reference else "n/a"


def _digits(value: float) -> str:
    """Formats with three or more significant digits and no exponent."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if value >= 0.1 else f"{value:.4f}"


def _aligned(table: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("   " + "  ".join(cells).rstrip())
    return lines


def _summary(result: Result, others: list[str]) -> list[str]:
    lines = []
    for name in others:
        found = ratios(result, name)
        if len(found) > 1:
            worst = min(found, key=lambda label: found[label])
            mean = geometric_mean(list(found.values()))
            lines.append(
                f"   {name}/{result.base}: geometric mean {mean:.2f}, "
                f"minimum {found[worst]:.2f} ({worst}), {len(found)} rows"
            )
    return lines


def _budgets(result: Result) -> list[str]:
    lines = []
    for pair, budget in result.budgets.items():
        base, peer = _pair(pair, result.base)
        for what, limit, found in _limited(result, base, peer, budget):
            # Two digits, as printed: more cannot be measured here.
            missed = {k: ratio for k, ratio in found.items() if round(ratio, 2) > round(limit, 2)}
            lines.append(
                f"   budget: {what or 'each'} {base}/{peer} <= {limit:.2f}: "
                + _verdict(missed, len(found))
            )
    for pair, budget in result.mean_budgets.items():
        base, peer = _pair(pair, result.base)
        for what, limit, found in _limited(result, base, peer, budget):
            mean = geometric_mean(list(found.values()))
            verdict = "met" if mean <= limit else "MISSED"
            rows = f"{what} " if what else ""
            lines.append(
                f"   budget: geometric mean of {rows}{base}/{peer} <= {limit:.2f}: "
                f"{verdict}, {mean:.2f}"
            )
    return lines + _row_budgets(result) + _best_budgets(result)


def _limited(
    result: Result, base: str, peer: str, budget: float | dict[str, float]
) -> Iterator[tuple[str, float, dict[str, float]]]:
    """Yields the name of some rows, their limit, and base / peer of each of them."""
    limits = budget if isinstance(budget, dict) else {"": budget}
    rows: dict[str, dict[str, float]] = {start: {} for start in limits}
    for label, ratio in ratios(result, peer, base).items():
        starts = [start for start in limits if label.startswith(start)]
        if starts:
            rows[max(starts, key=len)][label] = 1 / ratio
    for start, found in rows.items():
        what = f"each {start!r}" if start else "each other" if len(limits) > 1 else ""
        if found:
            yield what, limits[start], found


def _row_budgets(result: Result) -> list[str]:
    """Budgets for the ratio of two rows of a column of ours: how the cost grows with the case."""
    lines = []
    for peer in [name for name in result.peers if name.startswith("ours")]:
        found = {row.label: row.best(peer) for row in result.rows}
        for label, other, limit in result.row_budgets:
            value, reference = found.get(label), found.get(other)
            if value is not None and reference:
                verdict = "met" if round(value / reference, 2) <= limit else "MISSED"
                lines.append(
                    f"   budget: {peer}, {label!r} / {other!r} <= {limit:.2f}: "
                    f"{verdict}, {value / reference:.2f}"
                )
    return lines


def _best_budgets(result: Result) -> list[str]:
    """Budgets for the best of our columns: a user chooses the fastest way that there is."""
    lines = []
    for peer, limits in result.best_budgets.items():
        for start, limit in limits.items():
            rows = [row for row in result.rows if row.label.startswith(start)]
            reference = _smallest(rows, [peer])
            best = _smallest(rows, [name for name in result.peers if name.startswith("ours")])
            if best is not None and reference is not None:
                ratio, label, column = best[0] / reference[0], *best[1:]
                verdict = "met" if round(ratio, 2) <= round(limit, 2) else "MISSED"
                lines.append(
                    f"   budget: best of ours/{peer}, {start!r} <= {limit:.2f}: "
                    f"{verdict}, {ratio:.2f} ({label} of {column})"
                )
    return lines


def _smallest(rows: list[Row], peers: list[str]) -> tuple[float, str, str] | None:
    """Returns the smallest value of some peers in some rows, with its row and its peer."""
    values = [(row.best(peer), row.label, peer) for row in rows for peer in peers]
    found = [(value, label, peer) for value, label, peer in values if value is not None]
    return min(found, default=None)


def _pair(text: str, default: str) -> tuple[str, str]:
    base, _, peer = text.rpartition("/")
    return base or default, peer


def _verdict(missed: dict[str, float], count: int) -> str:
    if not missed:
        return "met"
    worst = sorted(missed, key=lambda label: -missed[label])
    shown = ", ".join(f"{label} {missed[label]:.2f}" for label in worst[:SHOWN])
    return f"MISSED by {len(missed)} of {count}: {shown}" + (", ..." if len(worst) > SHOWN else "")


def _as_dict(result: Result) -> dict[str, Any]:
    return {
        "name": result.name,
        "title": result.title,
        "threads": result.threads,
        "unit": "seconds or bytes per operation",
        "versions": result.versions,
        "unavailable": result.unavailable,
        "rows": [{"case": r.case, "phase": r.phase, "samples": r.samples} for r in result.rows],
        "ratios": {name: ratios(result, name) for name in result.peers if name != result.base},
        "missing": {f"{case}, {name}": why for (case, name), why in result.missing.items()},
        "notes": result.notes,
        "errors": result.errors,
    }
