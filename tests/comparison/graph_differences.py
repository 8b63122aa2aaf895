"""Differences between what two releases did with the same random programs of graphs."""

from __future__ import annotations

from typing import Any

#: What one statement did: bases of the error or None, what functions and hooks saw, gradients.
Outcome = list[Any]

#: Position of "is it the object from before" in the state of a variable.
_SAME = 3


def first_difference(
    theirs: list[Outcome], ours: list[Outcome], program: list[str]
) -> tuple[int, str] | None:
    """Returns the number of the first statement with different outcomes, and what differs.

    Args:
        theirs: Outcomes of the statements of a program in release 7.8.1, then the final state.
        ours: The same in this release.
        program: The statements.

    Returns:
        tuple: None if there is no difference. After an error that both releases raise, nothing is
        compared: release 7.8.1 loses gradients when a backward pass fails. Neither is after a call
        of ``chainer.grad`` with one output several times: the gradients add up here, while the last
        one counts in release 7.8.1. In a graph that gradients are part of, hooks see functions of
        each release's own, so that only the functions of the program are compared.
    """
    is_twice = False
    for number, (a, b) in enumerate(zip(theirs, ours, strict=True)):
        if ["one output twice"] in a[1] and ["one output twice"] in b[1]:
            return None
        if a[0] and b[0] and set(a[0]) & set(b[0]) - {"Exception"}:
            return None
        if a[0] != b[0]:
            return number, "error"
        if a[1] != b[1] and not (is_twice and _of_program(a[1]) == _of_program(b[1])):
            return number, "what functions and hooks see"
        if not _equal_states(a[2], b[2]):
            return number, "gradients"
        is_twice |= number < len(program) and "enable_double_backprop=True" in program[number]
    return None


def _of_program(trace: list[Any]) -> list[Any]:
    """Returns what the functions of a program and its statements saw, without what hooks saw."""
    return [entry for entry in trace if entry[0] not in ("backward", "after")]


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
