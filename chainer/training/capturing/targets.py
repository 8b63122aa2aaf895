"""The state that a captured step may read and change: that of links and optimizers."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from typing import Any

import numpy

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.links.link import Link
from chainer.training.optimizers.optimizer import Optimizer
from chainer.training.optimizers.update_rule import UpdateRule

#: Python values that are compared, and restored if a recording fails.
SIMPLE = (bool, int, float, str, bytes, type(None))


class Slot:
    """A place that holds an array: an entry of the dictionary of an object.

    Attributes:
        owner: Object that has the attribute, or name of it, for messages.
        members: The dictionary.
        name: The key.
    """

    __slots__ = ("members", "name", "owner")

    def __init__(self, owner: str, members: dict[str, Any], name: str) -> None:
        self.owner = owner
        self.members = members
        self.name = name

    def get(self) -> Any:
        """Returns what is there now."""
        return self.members.get(self.name)

    def set(self, value: Any) -> None:
        """Puts something there."""
        self.members[self.name] = value

    def __str__(self) -> str:
        return f"attribute {self.name!r} of {self.owner}"


class Targets:
    """Links and optimizers whose state is watched.

    Args:
        targets: Links and optimizers.

    Raises:
        TypeError: If one of them is something else.
    """

    def __init__(self, targets: tuple[Any, ...]) -> None:
        for target in targets:
            if not isinstance(target, (Link, Optimizer)):
                raise TypeError(
                    f"targets must be links and optimizers, got {type(target).__name__}"
                )
        self.roots = targets

    def links(self) -> list[Link]:
        """Returns all links, each once."""
        found: dict[int, Link] = {}
        for target in self.roots:
            root = target.target if isinstance(target, Optimizer) else target
            if root is not None:
                for link in root.links():
                    found.setdefault(id(link), link)
        return list(found.values())

    def optimizers(self) -> list[Optimizer]:
        """Returns the optimizers."""
        return [target for target in self.roots if isinstance(target, Optimizer)]

    def parameters(self) -> list[Parameter]:
        """Returns all parameters, each once."""
        found: dict[int, Parameter] = {}
        for link in self.links():
            for parameter in link.params():
                found.setdefault(id(parameter), parameter)
        return list(found.values())


def rules_of(parameters: list[Parameter]) -> list[UpdateRule]:
    """Returns the update rules of parameters."""
    return [p.update_rule for p in parameters if p.update_rule is not None]


#: References to an array that one dictionary holds: its own, and the argument of ``getrefcount``.
_REFERENCES_OF_ENTRY = 2


def unshared_states(rules: list[UpdateRule]) -> list[Any]:
    """Returns the arrays in states of update rules that nothing else refers to.

    They may be replaced without anything to be noticed.

    Args:
        rules: The rules.
    """
    found: list[Any] = []
    for rule in rules:
        state = rule.state or {}
        for name in state:
            alone = sys.getrefcount(state[name]) <= _REFERENCES_OF_ENTRY
            if alone and is_array(state[name]):
                found.append(state[name])
    return found


def array_slots(links: list[Link], rules: list[UpdateRule]) -> Iterator[Slot]:
    """Yields the places of arrays in links (not of parameters) and in states of update rules."""
    for link in links:
        for name, value in vars(link).items():
            if is_array(value):
                yield Slot(type(link).__name__, vars(link), name)
    for rule in rules:
        state = rule.state
        for name, value in (state or {}).items():
            if is_array(value):
                yield Slot(type(rule).__name__, state or {}, name)


def variable_slots(links: list[Link]) -> Iterator[Slot]:
    """Yields the places of Variables in links that are not parameters, such as states of LSTMs."""
    for link in links:
        for name, value in vars(link).items():
            if isinstance(value, Variable) and not isinstance(value, Parameter):
                yield Slot(type(link).__name__, vars(link), name)


def python_state(
    links: list[Link], optimizers: list[Optimizer], rules: list[UpdateRule]
) -> dict[tuple[int, str], tuple[Slot, Any]]:
    """Returns the plain values of links, optimizers and rules, by owner and name."""
    found: dict[tuple[int, str], tuple[Slot, Any]] = {}
    for owner in (*links, *optimizers, *rules):
        members = vars(owner)
        for name, value in members.items():
            if name in ("epoch", "_auto_epochs") and isinstance(owner, Optimizer):
                continue  # counted outside of steps, and not read by rules
            if isinstance(value, (*SIMPLE, numpy.generic)):
                found[id(owner), name] = Slot(type(owner).__name__, members, name), value
    return found


#: Attributes that :func:`chainer.static_graph` sets at each call as written.
_OF_STATIC_CHAINS = frozenset(("schedule_manager", "static_schedule"))


def other_attributes(link: Link) -> Iterator[tuple[Slot, Any]]:
    """Yields attributes of a link that are neither plain values nor arrays, such as functions.

    Of containers, copies are yielded: a step may depend on what is in them.
    """
    for name, value in vars(link).items():
        if name in _OF_STATIC_CHAINS:
            continue
        is_result = isinstance(value, Variable) and not isinstance(value, Parameter)
        if not (is_result or isinstance(value, (*SIMPLE, numpy.generic)) or is_array(value)):
            if isinstance(value, (list, dict, set)):
                value = copy.copy(value)
            yield Slot(type(link).__name__, vars(link), name), value


def watched_attributes(
    links: list[Link],
) -> tuple[list[tuple[dict[str, Any], str, Any]], list[tuple[Slot, Any]]]:
    """Returns what guards watch of the :func:`other_attributes` of links.

    Returns:
        tuple: Places of parameters, which have to stay the same; and places of all else, with what
        has to be equal.
    """
    objects: list[tuple[dict[str, Any], str, Any]] = []
    values: list[tuple[Slot, Any]] = []
    for link in links:
        for slot, value in other_attributes(link):
            if isinstance(value, Parameter):
                objects.append((slot.members, slot.name, value))
            else:
                values.append((slot, value))
    return objects, values


def watched_parameters(
    parameters: list[Parameter], arrays: list[Any]
) -> list[tuple[Parameter, Any, bool, Any, bool]]:
    """Returns what guards watch of parameters: array, ``requires_grad``, and update rule.

    Args:
        parameters: Parameters.
        arrays: The array of each of them.
    """
    return [
        (p, array, p._requires_grad, p.update_rule, _is_enabled(p.update_rule))
        for p, array in zip(parameters, arrays, strict=True)
    ]


def _is_enabled(rule: UpdateRule | None) -> bool:
    return rule is not None and rule.enabled


def hook_settings(optimizers: list[Optimizer], rules: list[UpdateRule]) -> tuple[Any, ...]:
    """Returns the hooks of optimizers and rules, and the numbers that they hold."""
    found: list[Any] = []
    for owner in (*optimizers, *rules):
        registry = owner._hooks
        if registry is None or not (registry.pre or registry.post):
            continue  # the usual case, checked at each call
        for hook in (*registry.pre.values(), *registry.post.values()):
            members = getattr(hook, "__dict__", {})
            found.append(
                (id(hook), tuple([(k, v) for k, v in members.items() if isinstance(v, SIMPLE)]))
            )
    return tuple(found)
