"""Compares the answers of two releases to the same call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.comparison.calls import make_call

STAGES = ("forward", "statistics", "gradient", "second")

#: Relative tolerance of values, by dtype and stage: gradients add up more rounding errors.
TOLERANCE = {
    "float16": {"forward": 1e-2, "statistics": 1e-2, "gradient": 5e-2, "second": 2e-1},
    "float32": {"forward": 1e-4, "statistics": 1e-4, "gradient": 1e-3, "second": 1e-2},
    "float64": {"forward": 1e-6, "statistics": 1e-6, "gradient": 1e-6, "second": 1e-5},
}


@dataclass(frozen=True)
class Difference:
    """One difference between the answers to a call.

    Attributes:
        number: Number of the call.
        function: Name of the function.
        stage: Where: ``forward``, ``statistics``, ``gradient``, ``second`` or ``warnings``.
        kind: What differs: ``accepts`` (7.8.1 raises an error and this release does not),
            ``refuses`` (the contrary), ``error`` (both raise, and code that catches the class of
            7.8.1 does not catch ours), ``structure``, ``kind``, ``missing``, ``dtype``, ``shape``,
            ``value`` or ``warning``.
        theirs: What 7.8.1 gives.
        ours: What this release gives.
    """

    number: int
    function: str
    stage: str
    kind: str
    theirs: Any
    ours: Any

    def __str__(self) -> str:
        return (
            f"{self.number} {self.function} {self.stage} {self.kind}: "
            f"7.8.1 {_short(self.theirs)}; here {_short(self.ours)}"
        )


def compare_answers(
    number: int, theirs: dict[str, Any], ours: dict[str, Any], special: bool = False
) -> list[Difference]:
    """Returns the differences between the answers of both releases to a call.

    Args:
        number: Number of the call.
        theirs: Answer of release 7.8.1.
        ours: Answer of this release.
        special: Whether some elements of inputs and gradients are NaN or infinite. Then the
            elements that are finite in release 7.8.1 are compared, and no second gradients.
    """
    if special:
        theirs, ours = (
            {stage: _with_finite_values(value, theirs[stage]) for stage, value in answer.items()}
            for answer in _common_stages(theirs, ours)
        )
    if theirs == ours:
        return []
    call = make_call(number)
    dtypes = [x.array.dtype for x in call.inputs() if x.array.dtype.kind == "f"]
    narrowest = min(dtypes, key=lambda dtype: dtype.itemsize).name if dtypes else ""
    return differences(number, call.function, theirs, ours, narrowest)


def _common_stages(theirs: dict[str, Any], ours: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns both answers as far as both have them, without second gradients and warnings."""
    stages = [stage for stage in STAGES[:-1] if stage in theirs and stage in ours]
    return [{stage: answer[stage] for stage in stages} for answer in (theirs, ours)]


def _with_finite_values(ours: Any, theirs: Any) -> Any:
    """Returns results without the values that are not finite in release 7.8.1."""
    if _is_error(ours) or _is_error(theirs) or len(ours) != len(theirs):
        return ours
    found = []
    for y, reference in zip(ours, theirs, strict=True):
        if y is not None and reference is not None and len(y[3]) == len(reference[3]):
            pairs = zip(y[3], reference[3], strict=True)
            y = [*y[:3], [value for value, same in pairs if np.isfinite(same)]]
        found.append(y)
    return found


def differences(
    number: int, function: str, theirs: dict[str, Any], ours: dict[str, Any], precision: str
) -> list[Difference]:
    """Returns the differences between two answers to a call.

    Args:
        number: Number of the call.
        function: Its function.
        theirs: Answer of release 7.8.1.
        ours: Answer of this release.
        precision: The narrowest floating-point dtype of the arguments, which limits the precision
            of all results.

    The first stage that differs ends the comparison: what follows from it differs as well.
    """
    for stage in STAGES:
        found = _compare_stage(theirs.get(stage), ours.get(stage), stage, precision)
        if found:
            return [Difference(number, function, stage, *item) for item in found]
        if _is_error(theirs.get(stage)):
            break
    if theirs.get("warnings") != ours.get("warnings") and not _is_error(theirs["forward"]):
        return [
            Difference(
                number,
                function,
                "warnings",
                "warning",
                theirs.get("warnings"),
                ours.get("warnings"),
            )
        ]
    return []


def _is_error(stage: Any) -> bool:
    return isinstance(stage, dict)


def _compare_stage(
    theirs: Any, ours: Any, stage: str, precision: str
) -> list[tuple[str, Any, Any]]:
    if theirs is None or ours is None:
        # A release that has no second gradient says so by an error or by a gradient without graph.
        return [] if theirs is ours else [("missing", theirs, ours)]
    if _is_error(theirs):
        if not _is_error(ours):
            return [("accepts", theirs, ours)]
        caught = theirs["error"][0] in ours["error"]
        return [] if caught else [("error", theirs, ours)]
    if _is_error(ours):
        return [("refuses", theirs, ours)]
    if len(theirs) != len(ours):
        return [("structure", theirs, ours)]
    for a, b in zip(theirs, ours, strict=True):
        kind = _compare_value(a, b, stage, precision)
        if kind is not None:
            return [(kind, a, b)]
    return []


def _compare_value(theirs: Any, ours: Any, stage: str, precision: str) -> str | None:
    if theirs is None or ours is None:
        # No gradient and a gradient of zeros are the same to the caller.
        given = theirs or ours
        zero = given is None or (stage == "second" and not any(given[3]))
        return None if zero else "missing"
    for position, kind in enumerate(("kind", "dtype", "shape")):
        if theirs[position] != ours[position]:
            return kind
    a, b = np.array(theirs[3], float), np.array(ours[3], float)
    rtol = max(TOLERANCE.get(d, {}).get(stage, 0) for d in (theirs[1], precision))
    finite = np.abs(a[np.isfinite(a)])
    atol = rtol * max(1.0, float(finite.max(initial=0.0)))
    return None if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True) else "value"


def _short(value: Any) -> str:
    if _is_error(value):
        return f"{value['error'][0]} ({value['text']})"
    text = str(value)
    return text if len(text) <= 90 else text[:87] + "..."
