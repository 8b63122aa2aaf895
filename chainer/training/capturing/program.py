"""A recorded step with what has to hold for it, and what it does besides array work."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any

import numpy

from chainer.core.arrays.backend import is_array
from chainer.core.arrays.recorder import Program
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.reporting.reporter import Reporter
from chainer.training.capturing.results import CapturedVariable
from chainer.training.capturing.structure import Leaf, unflatten
from chainer.training.capturing.targets import Slot


class Guards:
    """What must be as it was when a step was recorded.

    Args:
        objects: Places of arrays, parameters and other objects, which have to stay the same.
        parameters: Parameters with array, ``requires_grad``, update rule, and whether that is
            enabled.
        values: Places of plain values, functions and containers, with what is equal to them.
        sizes: Containers with the number of their entries.
        carried: Places of arrays that are passed from call to call, with shape and dtype, and
            whether a Variable holds them.
        groups: Update rules that share numbers, and need the same count of updates for that.
        settings: Returns the hooks and their numbers.
    """

    def __init__(
        self,
        objects: list[tuple[dict[str, Any], str, Any]],
        parameters: list[tuple[Parameter, Any, bool, Any, bool]],
        values: list[tuple[Slot, Any]],
        sizes: list[tuple[Any, int]],
        carried: list[tuple[Slot, Any, bool]],
        groups: list[list[Any]],
        settings: Callable[[], Any],
    ) -> None:
        self._objects = objects
        self._parameters = parameters
        self._values = values
        self._sizes = sizes
        self._carried = carried
        self._groups = groups
        self._settings = settings
        self._expected_settings = settings()
        # Lists for holds(), which has to be quick: models may have hundreds of links.
        self._alone = [p for p, *_ in parameters]
        self._facts = [
            (array, requires_grad, rule) for _, array, requires_grad, rule, _ in parameters
        ]
        self._small = [
            (p, array) for p, array, *_ in parameters if not _is_told_by_comparison(array)
        ]
        self._containers = [container for container, _ in sizes]
        self._lengths = [size for _, size in sizes]
        self._identical = [(m, n, v) for m, n, v in objects if not _is_told_by_comparison(v)]
        entries = [(m, n, v) for m, n, v in objects if _is_told_by_comparison(v)]
        self._compare([*entries, *[(slot.members, slot.name, v) for slot, v in values]])

    def _compare(self, entries: list[tuple[dict[str, Any], str, Any]]) -> None:
        """Prepares the comparison of entries of dictionaries, one for each dictionary."""
        by_owner: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        for members, name, value in entries:
            by_owner.setdefault(id(members), (members, {}))[1][name] = value
        # A getter of several entries returns a tuple, that of one entry its value.
        self._getters = [(itemgetter(*found), members) for members, found in by_owner.values()]
        self._expected = [
            tuple(found.values()) if len(found) > 1 else next(iter(found.values()))
            for _, found in by_owner.values()
        ]

    def holds(self) -> bool:
        """Returns whether nothing has changed; what has changed if not, :meth:`broken` tells."""
        try:
            return (
                list(map(_get_facts, self._alone)) == self._facts
                and all([p._array is array for p, array in self._small])
                and list(map(len, self._containers)) == self._lengths
                and all([members[name] is value for members, name, value in self._identical])
                and [getter(members) for getter, members in self._getters] == self._expected
                and all([_agrees(*carried) for carried in self._carried])
                and all([len(set(map(_get_count, rules))) == 1 for rules in self._groups])
                and self._settings() == self._expected_settings
            )
        except (KeyError, TypeError, ValueError, NotImplementedError):
            return False  # something was deleted, or a number is an array or a Variable now

    def broken(self) -> str | None:
        """Returns what has changed; None if the program may run."""
        return self._changed_parameter() or self._changed_place() or self._changed_setting()

    def _changed_parameter(self) -> str | None:
        for parameter, array, requires_grad, rule, enabled in self._parameters:
            if parameter._array is not array:
                return f"the array of parameter {parameter.name!r} was replaced"
            if parameter._requires_grad is not requires_grad:
                return f"requires_grad of parameter {parameter.name!r} has changed"
            if parameter.update_rule is not rule or (rule is not None and rule.enabled != enabled):
                return f"the update rule of parameter {parameter.name!r} has changed"
        return None

    def _changed_place(self) -> str | None:
        for container, size in self._sizes:
            if len(container) != size:
                return "attributes or parameters were added or removed"
        for members, name, value in self._objects:
            if members.get(name) is not value:
                return f"{name!r} was replaced"
        for slot, value in self._values:
            now = slot.members.get(slot.name, _MISSING)
            if now is not value and not _are_equal(now, value):
                return f"{slot} was {reprlib.repr(value)} and is {reprlib.repr(now)}"
        for slot, signature, is_variable in self._carried:
            if not _agrees(slot, signature, is_variable):
                return f"{slot} is of another kind, shape or dtype"
        return None

    def _changed_setting(self) -> str | None:
        for rules in self._groups:
            if len(set(map(_get_count, rules))) > 1:
                return "parameters have been updated at different steps"
        if self._settings() != self._expected_settings:
            return "hooks of an optimizer, or their settings, have changed"
        return None


_MISSING = object()

_get_count = attrgetter("t")
_get_facts = attrgetter("_array", "_requires_grad", "update_rule")


def _is_told_by_comparison(value: Any) -> bool:
    """Returns whether ``==`` holds for an object and nothing else.

    Python compares lists of such objects several times as fast as one by one with ``is``. Of NumPy
    arrays, a comparison with another object raises ValueError, unless they have one element.
    """
    if type(value) is numpy.ndarray:
        return value.size > 1
    # A comparison of a Variable with another object raises NotImplementedError.
    return isinstance(value, Parameter) or type(value).__eq__ is object.__eq__


def _are_equal(first: Any, second: Any) -> bool:
    try:
        return bool(first == second)
    except (TypeError, ValueError, NotImplementedError):
        return False  # such as an array in place of a number


def _agrees(slot: Slot, signature: Any, is_variable: bool) -> bool:
    """Returns whether a place holds a Variable or an array as expected, of the same signature."""
    now = slot.get()
    if isinstance(now, Variable) is not is_variable:
        return False
    array = now.array if is_variable else now
    return is_array(array) and (array.shape, array.dtype) == signature


class Recording:
    """A program, and how to call it in place of the step.

    Attributes:
        program: The array work.
        guards: What has to hold.
        structure: Structure of the result.
        is_verified: Whether it was compared with a run as written.
        failures: How many comparisons have found a difference.
        n_results: How many outputs are arrays of the result.
        kinds: For each output of the result, whether it is a Variable.
        carried: Places of arrays that are passed from call to call; they follow the arguments.
        stored: Places of arrays and Variables that get an output each, and whether a Variable.
        reports: Keys of reported values that get an output each, and whether a Variable.
        gradients: Parameters that get an output as gradient.
        cleared: Parameters whose gradients are None afterwards.
        counters: Places of numbers that grow, and by how much.
        constants: Results that do not depend on the arguments, by number of the leaf.
    """

    def __init__(self, program: Program, guards: Guards, structure: Any) -> None:
        self.program = program
        self.guards = guards
        self.structure = structure
        self.is_verified = False
        self.failures = 0
        self.kinds: list[bool] = []
        self.places: list[int] = []
        self.constants: dict[int, Any] = {}
        self.carried: list[Slot] = []
        self.stored: list[tuple[Slot, bool]] = []
        self.reports: list[tuple[str, bool]] = []
        self.gradients: list[Parameter] = []
        self.cleared: list[Parameter] = []
        self.counters: list[tuple[dict[str, Any], str, int]] = []

    def __call__(self, found: Sequence[Any], reporter: Reporter | None) -> Any:
        """Does what the step would do.

        Args:
            found: Arrays and Variables of the arguments.
            reporter: The current reporter.
        """
        arguments = [x.array if isinstance(x, Variable) else x for x in found]
        for slot in self.carried:
            value = slot.get()
            arguments.append(value.array if isinstance(value, Variable) else value)
        for members, name, step in self.counters:
            members[name] += step
        outputs = iter(self.program(arguments))
        if type(self.structure) is Leaf and self.places:  # the usual case: a loss
            y = next(outputs)
            only = CapturedVariable(y, requires_grad=False) if self.kinds[0] else y
            self._follow(outputs, reporter)
            return only
        results = {
            place: CapturedVariable(y, requires_grad=False) if is_variable else y
            for place, is_variable, y in zip(self.places, self.kinds, outputs)
        }
        self._follow(outputs, reporter)

        def leaf(place: Leaf) -> Any:
            found = results.get(place.index)
            return self.constants[place.index].copy() if found is None else found

        return unflatten(self.structure, leaf)

    def _follow(self, outputs: Iterator[Any], reporter: Reporter | None) -> None:
        """Puts the outputs that follow the results in their places."""
        for slot, is_variable in self.stored:
            y = next(outputs)
            slot.set(Variable(y) if is_variable else y)
        if reporter is not None:
            for key, is_variable in self.reports:
                y = next(outputs)
                reporter.observation[key] = (
                    CapturedVariable(y, requires_grad=False) if is_variable else y
                )
        for parameter in self.cleared:
            parameter._gradient = None
        for parameter in self.gradients:
            parameter.grad = next(outputs)
