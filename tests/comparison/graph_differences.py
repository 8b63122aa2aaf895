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
        one counts in release 7.8.1. In a graph that gradients are part of, hooks see some
        functions that have another name, or that one release alone has; see ``_of_both``.
    """
    is_twice = False
    for number, (a, b) in enumerate(zip(theirs, ours, strict=True)):
        if ["one output twice"] in a[1] and ["one output twice"] in b[1]:
            return None
        if a[0] and b[0] and set(a[0]) & set(b[0]) - {"Exception"}:
            return None
        if a[0] != b[0]:
            return number, "error"
        if a[1] != b[1] and not (is_twice and _of_both(a[1]) == _of_both(b[1])):
            return number, "what functions and hooks see"
        if not _equal_states(a[2], b[2]):
            return number, "gradients"
        is_twice |= number < len(program) and "enable_double_backprop=True" in program[number]
    return None


#: Functions of gradients that have another name in release 7.8.1.
_NAMES = {"SumGrad": "BroadcastTo", "ReLUGrad2": "ReLUGrad"}
#: Functions of gradients that one release alone has. The gradients of ``separate`` and
#: ``split_axis`` are one function each here, and their gradients take elements; release 7.8.1 joins
#: gradients and zeros, and splits what it joined.
_OWN = {"Separate", "SeparateGrad", "Stack", "GetItem", "Concat", "SplitAxis", "SplitAxisGrad"}
#: A square has two equal gradients, which are one function here.
_PRODUCT = "_ * _"


def _of_both(trace: list[Any]) -> list[Any]:
    """Returns what functions and hooks saw in a graph of gradients, as far as both releases agree.

    Functions have the names of release 7.8.1. Of equal products in a row, the first one is kept.
    """
    found: list[Any] = []
    for entry in trace:
        if entry[0] in ("backward", "after"):
            if entry[1] in _OWN:
                continue
            entry = [entry[0], _NAMES.get(entry[1], entry[1]), entry[2]]
            if entry[1] == _PRODUCT and entry in found[-2:]:
                continue
        found.append(entry)
    return found


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
