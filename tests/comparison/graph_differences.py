"""Differences between what two releases did with the same random programs of graphs."""

from __future__ import annotations

import re
from typing import Any

#: What one statement did: bases of the error or None, what functions and hooks saw, gradients.
Outcome = list[Any]

#: Position of "is it the object from before" in the state of a variable.
_SAME = 3


def first_difference(theirs: list[Outcome], ours: list[Outcome]) -> tuple[int, str] | None:
    """Returns the number of the first statement with different outcomes, and what differs.

    Args:
        theirs: Outcomes of the statements of a program in release 7.8.1, then the final state.
        ours: The same in this release.

    Returns:
        tuple: None if there is no difference. After an error that both releases raise, nothing is
        compared: release 7.8.1 loses gradients when a backward pass fails.
    """
    for number, (a, b) in enumerate(zip(theirs, ours, strict=True)):
        if a[0] and b[0] and set(a[0]) & set(b[0]) - {"Exception"}:
            return None
        if a[0] != b[0]:
            return number, "error"
        if a[1] != b[1]:
            return number, "what functions and hooks see"
        if not _equal_states(a[2], b[2]):
            return number, "gradients"
    return None


def gives_an_output_twice(program: list[str]) -> bool:
    """Returns whether a program calls ``chainer.grad`` with one output several times.

    The gradients add up here. In release 7.8.1 the last one counts.
    """
    for line in program:
        found = re.search(r"chainer\.grad\(\[([^]]*)\]", line)
        names = found.group(1).split(", ") if found else []
        if len(set(names)) < len(names):
            return True
    return False


def _equal_states(theirs: dict[str, Any] | None, ours: dict[str, Any] | None) -> bool:
    if theirs is None or ours is None:
        return theirs is ours
    if theirs.keys() != ours.keys():
        return False
    return all(_equal_variables(state, ours[name]) for name, state in theirs.items())


def _equal_variables(theirs: list[Any], ours: list[Any]) -> bool:
    if len(theirs) != len(ours):
        return False
    # Where several variables have one gradient in release 7.8.1, each has its own here.
    return all(
        a == b or (position == _SAME and a is None)
        for position, (a, b) in enumerate(zip(theirs, ours, strict=True))
    )
