"""Differences between what two releases did with the same random networks of Caffe."""

from __future__ import annotations

import math
import re
from typing import Any

from tests.comparison.caffe_networks import MARK

#: Name of a step -> what it found, or the classes of its error. The last step may have failed.
Outcome = dict[str, Any]

#: Groups of docs/differences-from-7.md, and what a network has that belongs to one.
ACCEPTED = {
    "outputs of Split layers": ("test", re.compile(r"SPLIT|Split")),
    "zeros in shapes": ("test", re.compile(r"shape \{ dim: 0 ")),
    "statistics of four lengths": (
        "load",
        re.compile(r"batch_norm_param \{[^}]*\} .*blobs \{ num"),
    ),
}
#: Error by which sums in another order may differ, of the largest number of a step.
_TOLERANCE = 2e-4


def outcome_of_networks(theirs: Outcome, ours: Outcome, text: str) -> str | None:
    """Returns how the outcomes of a network belong together; None if they should be equal.

    Args:
        theirs: What each step found in release 7.8.1.
        ours: The same here.
        text: The network.
    """
    *_, a = theirs
    *_, b = ours
    refused = isinstance(theirs[a], dict) and "error" in theirs[a]
    for step in theirs.keys() & ours.keys():
        failed = ["error" in found[step] for found in (theirs, ours)]
        if not any(failed) and not _are_close(theirs[step], ours[step]):
            return None
    if not refused and b == "load" and "error" in ours[b] and MARK in text:
        return "blobs that do not fit"
    if not refused:
        return "same" if a == b and "error" not in ours[b] else None
    if "error" in ours[b] and list(_STEPS).index(b) <= list(_STEPS).index(a):
        common = set(theirs[a]["error"]) & set(ours[b]["error"]) - {"Exception"}
        return "refused by both" if common and a == b else "refused with another error"
    for name, (step, pattern) in ACCEPTED.items():
        if a == step and pattern.search(text):
            return name
    return None


_STEPS = ("load", "test", "train", "backward", "disable")


def _are_close(a: Any, b: Any, largest: float = 0.05) -> bool:
    """Compares what a step found; errors are relative to the largest number of the step.

    The gradient of a bias in front of batch normalization is nothing but rounding.
    """
    if isinstance(a, dict):
        numbers = [x for value in a.values() if _is_array(value) for x in value[2]]
        largest = max([largest, *(abs(x) for x in numbers if math.isfinite(x))])
        return a.keys() == b.keys() and all(_are_close(a[key], b[key], largest) for key in a)
    if _is_array(a) and _is_array(b):
        return a[:2] == b[:2] and all(
            x == y or (x != x and y != y) or math.isclose(x, y, abs_tol=_TOLERANCE * largest)
            for x, y in zip(a[2], b[2], strict=True)
        )
    return a == b


def _is_array(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and str(value[0]).startswith("float")
