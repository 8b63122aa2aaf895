"""Small plots as SVG, which notebooks show inline (LogReport)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

#: Size of the plot in pixels, and the margin that keeps thick lines inside.
_WIDTH, _HEIGHT, _MARGIN = 220, 60, 3

#: Keys of every entry that are not results.
_COUNTERS = frozenset(("epoch", "iteration", "elapsed_time"))


def curves_of(log: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Returns the finite values of a log by key, with their iterations.

    Args:
        log: Entries of a log report.
    """
    curves: dict[str, list[tuple[float, float]]] = {}
    for position, entry in enumerate(log):
        for key, value in entry.items():
            if key in _COUNTERS or isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            if math.isfinite(value):
                x = float(entry.get("iteration", position))
                curves.setdefault(key, []).append((x, float(value)))
    return curves


def svg(points: Sequence[tuple[float, float]]) -> str:
    """Returns a curve as an SVG element.

    Args:
        points: At least one point (x, y); finite numbers.
    """
    xs, ys = [x for x, _ in points], [y for _, y in points]

    def scaled(value: float, low: float, high: float, size: int) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return _MARGIN + share * (size - 2 * _MARGIN)

    places = [
        (
            scaled(x, min(xs), max(xs), _WIDTH),
            _HEIGHT - scaled(y, min(ys), max(ys), _HEIGHT),
        )
        for x, y in points
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    x, y = places[-1]
    return (
        f"<svg width='{_WIDTH}' height='{_HEIGHT}' role='img' xmlns='http://www.w3.org/2000/svg'>"
        f"<polyline points='{line}' fill='none' stroke='#4051b5' stroke-width='1.5'/>"
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.5' fill='#4051b5'/></svg>"
    )


def log_table(log: Sequence[Mapping[str, Any]]) -> str:
    """Returns a table with a plot for each value of a log, as HTML.

    Args:
        log: Entries of a log report.
    """
    curves = curves_of(log)
    if not curves:
        return f"<p>LogReport: {len(log)} entries, no numbers to plot</p>"
    rows = "".join(
        f"<tr><td>{escape(key)}</td><td>{svg(points)}</td><td>{points[-1][1]:.4g}</td></tr>"
        for key, points in sorted(curves.items())
    )
    last = log[-1]
    return (
        "<table><thead><tr><th>value</th><th>course</th><th>last</th></tr></thead>"
        f"<tbody>{rows}</tbody></table><p>{len(log)} entries, up to iteration "
        f"{last.get('iteration', '?')}, epoch {last.get('epoch', '?')}</p>"
    )
