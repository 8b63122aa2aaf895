"""Compares what the programs of ``tests/clients/calls`` gave under two releases."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

#: Relative differences that sums in another order make, by dtype; ``None`` is the default.
TOLERANCE = {"float16": 5e-3, None: 2e-4}


def difference(theirs: dict[str, Any], ours: dict[str, Any]) -> str | None:
    """Returns the first difference of two outcomes, or None.

    Args:
        theirs: Outcome under release 7.8.1.
        ours: Outcome here. Its error may have further base classes.
    """
    if "error" in theirs or "error" in ours:
        if "error" in theirs and theirs["error"][0] in ours.get("error", ()):
            return None
        return f"{_told(theirs)} / {_told(ours)}"
    return next(_differences(theirs["value"], ours["value"], "result"), None)


def _told(outcome: dict[str, Any]) -> str:
    if "error" in outcome:
        return f"{outcome['error'][0]}: {outcome['text'][:160]}"
    return "a value"


def _differences(theirs: Any, ours: Any, place: str) -> Iterator[str]:
    numbers = (int, float)
    if isinstance(theirs, list) and isinstance(ours, list):
        if theirs[:1] == ["array"] and ours[:1] == ["array"] and len(theirs) == len(ours) == 6:
            yield from _array_differences(theirs, ours, place)
            return
        # The first item is the kind of the object.
        if theirs[0] != ours[0]:
            yield f"{place}: {theirs[0]} / {ours[0]}"
            return
        if len(theirs) != len(ours):
            yield f"{place}: {len(theirs) - 1} items / {len(ours) - 1}"
            return
        for number, (a, b) in enumerate(zip(theirs, ours, strict=True)):
            yield from _differences(a, b, f"{place}[{number - 1}]")
    elif isinstance(theirs, dict) and isinstance(ours, dict):
        if sorted(theirs) != sorted(ours):
            yield f"{place}: keys {sorted(theirs)} / {sorted(ours)}"
            return
        for key in theirs:
            yield from _differences(theirs[key], ours[key], f"{place}[{key!r}]")
    elif isinstance(theirs, numbers) and isinstance(ours, numbers):
        if not _close(theirs, ours, abs(theirs), TOLERANCE[None]):
            yield f"{place}: {theirs} / {ours}"
    elif theirs != ours:
        yield f"{place}: {str(theirs)[:150]} / {str(ours)[:150]}"


def _array_differences(theirs: list[Any], ours: list[Any], place: str) -> Iterator[str]:
    for number, what in ((1, "dtype"), (2, "shape")):
        if theirs[number] != ours[number]:
            yield f"{place}: {what} {theirs[number]} / {ours[number]}"
            return
    tolerance = TOLERANCE.get(theirs[1], TOLERANCE[None])
    largest = max(1.0, theirs[5]) if math.isfinite(theirs[5]) else 1.0
    for number, (a, b) in enumerate(zip(theirs[3], ours[3], strict=True)):
        if not _close(a, b, largest, tolerance):
            yield f"{place}: element {number} of those shown: {a} / {b}"
            return
    # Rounding errors of elements add up as their square root.
    size = math.prod(theirs[2]) ** 0.5 * largest
    if not _close(theirs[4], ours[4], max(size, abs(theirs[4])), tolerance):
        yield f"{place}: sum {theirs[4]} / {ours[4]}"


def _close(a: float, b: float, size: float, tolerance: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(size, 1e-2)


def uncalled(names: dict[str, list[str]], programs: Iterable[str], left_out: str) -> list[str]:
    """Returns the functions and classes of a package that no program names.

    Args:
        names: Last part of a name to the modules that define it.
        programs: All programs of the package.
        left_out: Regular expression of full names that cannot be called here.
    """
    words = set(re.findall(r"\w+", "\n".join(programs)))
    return sorted(
        f"{module}.{name}"
        for name, modules in names.items()
        for module in modules
        if name not in words
        and not module.endswith(f".{name}")
        and not re.search(left_out, f"{module}.{name}")
    )
