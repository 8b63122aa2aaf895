"""Guards: the conditions under which a record may take the place of the step.

A record depends on the contents of slots that no argument gives: arrays, settings, functions. They
are compared before each call, which has to be quick, because models may have hundreds of links.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter, itemgetter
from typing import Any, cast

import numpy

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.training.capturing.state import (
    MISSING,
    OF_OPTIMIZERS,
    PLAIN,
    Fields,
    Key,
    Kind,
    Owner,
    Role,
    Slot,
    StateTree,
    array_of,
    is_same,
)
from chainer.training.optimizers.changes import optimizer_changes
from chainer.training.optimizers.update_rule import UpdateRule

_get_facts = attrgetter("_array", "_requires_grad", "update_rule")
_get_count = attrgetter("t")

#: Types whose values may equal ones of other types.
_NUMBERS = (int, float, complex, numpy.generic)


class Places:
    """Slots that must hold what they held when the step was recorded.

    Args:
        slots: The slots, with the expected contents as their values.
        sizes: Owners that must keep their number of attributes.
    """

    def __init__(self, slots: list[Slot], sizes: list[Owner]) -> None:
        self._slots = slots
        self._sizes = [(owner.members, len(owner.members)) for owner in sizes]
        told = [s for s in slots if _is_told(s)]
        others = [s for s in slots if not _is_told(s)]
        identical = [s for s in others if _is_told_by_identity(s)]
        self._identical = [(s.owner.members, s.name, s.value) for s in identical]
        self._looked_at = [s for s in others if not _is_told_by_identity(s)]
        members = [s for s in told if not isinstance(s.owner, Fields)]
        # Equal numbers of other types are other numbers: 2 and 2.0 make other dtypes. The links of
        # Chainer itself never change the type of a number.
        numbers = [s for s in members if isinstance(s.value, _NUMBERS)]
        self._typed = [s for s in numbers if not s.owner.is_of_library]
        compared = self._compare(members)
        self._fields: dict[str, list[Slot]] = {}
        for slot in told:
            if isinstance(slot.owner, Fields):
                self._fields.setdefault(slot.name, []).append(slot)
        counted = [(c, size) for c, size in self._sizes if id(c) not in compared]
        self._containers = [container for container, _ in counted]
        self._lengths = [size for _, size in counted]
        #: What :meth:`hold` calls.
        self.checks = self._made_checks()

    def _compare(self, slots: list[Slot]) -> set[int]:
        """Prepares the comparison of entries of dictionaries.

        Returns:
            set of int: Identities of the dictionaries that are compared as a whole.
        """
        by_owner: dict[int, tuple[dict[str, object], dict[str, object]]] = {}
        for slot in slots:
            members = slot.owner.members
            by_owner.setdefault(id(members), (members, {}))[1][slot.name] = slot.value
        # Usually all entries are watched. Comparing two dictionaries takes half as long as getting
        # the entries and comparing these.
        whole = [pair for pair in by_owner.values() if pair[0].keys() == pair[1].keys()]
        self._parts = [pair for pair in by_owner.values() if pair[0].keys() != pair[1].keys()]
        self._whole = [members for members, _ in whole]
        self._expected_whole = [found for _, found in whole]
        return set(map(id, self._whole))

    def hold(self) -> bool:
        """Returns whether nothing has changed. If something has, :meth:`changed` returns what.

        Raises:
            KeyError: If something was deleted.
            TypeError, ValueError, NotImplementedError: If a number is an array or a Variable now.
        """
        return all([check() for check in self.checks])

    def _made_checks(self) -> list[Callable[[], bool]]:
        """Returns the comparisons of this step: a small one has few kinds of slots."""
        found: list[tuple[object, Callable[[], bool]]] = [
            (self._whole, lambda: self._whole == self._expected_whole),
            (self._containers, lambda: list(map(len, self._containers)) == self._lengths),
            (self._identical, self._are_identical),
            (self._parts, _comparison_of_parts(self._parts)),
            *[(True, _comparison_of_fields(*field)) for field in self._fields.items()],
            (self._typed, lambda: all([_has_type(slot) for slot in self._typed])),
            (self._looked_at, lambda: all([_is_as_expected(slot) for slot in self._looked_at])),
        ]
        return [check for needed, check in found if needed]

    def _are_identical(self) -> bool:
        return all([members[name] is value for members, name, value in self._identical])

    def changed(self) -> str | None:
        """Returns what has changed; None if nothing has."""
        for container, size in self._sizes:
            if len(container) != size:
                return "attributes or parameters were added or removed"
        for slot in self._slots:
            if not _is_as_expected(slot):
                if slot.kind in (Kind.ARRAY, Kind.FIXED):
                    return f"{slot} was replaced"
                return f"{slot} was {reprlib.repr(slot.value)} and is {reprlib.repr(slot.get())}"
        return None


def _comparison_of_parts(
    parts: Sequence[tuple[dict[str, object], dict[str, object]]],
) -> Callable[[], bool]:
    """Returns a function that compares entries of dictionaries with those that are expected."""
    # An itemgetter of several entries returns a tuple; one of a single entry returns its value.
    getters = [(itemgetter(*found, next(iter(found))), members) for members, found in parts]
    expected = [(*found.values(), next(iter(found.values()))) for _, found in parts]
    if len(parts) == 1:  # usually, all that a step reads of its module
        ((get, of),), (values,) = getters, expected
        return lambda: get(of) == values
    return lambda: [get(of) for get, of in getters] == expected


def _comparison_of_fields(name: str, slots: Sequence[Slot]) -> Callable[[], bool]:
    """Returns a function that compares attributes of objects with those that are expected."""
    get, targets = attrgetter(name), [cast(Fields, slot.owner).target for slot in slots]
    expected = [slot.value for slot in slots]
    return lambda: list(map(get, targets)) == expected


def _is_told(slot: Slot) -> bool:
    """Returns whether ``==`` finds each change of a slot, but for types of single numbers."""
    value = slot.value
    # Another dictionary is another state of a rule, even if it is equal.
    if value is MISSING or (slot.kind is Kind.FIXED and isinstance(value, dict)):
        return False
    if not slot.owner.is_of_library:
        is_field = isinstance(slot.owner, Fields)
        if isinstance(value, dict) or (is_field and isinstance(value, _NUMBERS)):
            return False
        if isinstance(value, (list, tuple)):
            return all([_is_told_within(part) for part in cast("Sequence[object]", value)])
    return is_told_by_comparison(value)


def _is_told_within(value: object) -> bool:
    """As :func:`_is_told`, of an entry of a list, whose numbers may become ones of other types."""
    compared = isinstance(value, (*_NUMBERS, list, tuple, dict, set))
    return not compared and is_told_by_comparison(value)


def _is_told_by_identity(slot: Slot) -> bool:
    is_state = slot.kind is Kind.FIXED and isinstance(slot.value, dict)
    is_container = isinstance(slot.value, (list, tuple, dict, set)) and not is_state
    return not (is_container or isinstance(slot.value, PLAIN) or isinstance(slot.owner, Fields))


def _has_type(slot: Slot) -> bool:
    return is_same(slot.owner.members[slot.name], slot.value)


def _is_as_expected(slot: Slot) -> bool:
    # The value is a copy of a container: its entries are compared.
    return is_same(slot.get(), slot.value)


def is_told_by_comparison(value: object) -> bool:
    """Returns whether ``==`` distinguishes an object from every other object.

    Python compares lists of such objects several times as fast as a loop with ``is`` does. Arrays
    of more than one element qualify too: comparing them with another object gives an array, whose
    truth value is an error, which callers take for a change.
    """
    if isinstance(value, (*PLAIN, list, dict, set, tuple)):
        return True
    if is_array(value):
        return cast(Any, value).size > 1
    # A comparison of a Variable with another object raises NotImplementedError.
    return isinstance(value, Parameter) or type(value).__eq__ is object.__eq__


class Guards:
    """Conditions under which a record may be repeated.

    Args:
        tree: The slots, with the contents that they must have.
        changed: Keys of slots that the step itself changes.
        carried: Slots of arrays and Variables that pass from call to call.
        groups: Update rules that share numbers, while they have made the same number of updates.
    """

    def __init__(
        self,
        tree: StateTree,
        changed: Collection[Key] = (),
        carried: Sequence[Slot] = (),
        groups: Sequence[Sequence[UpdateRule]] = (),
    ) -> None:
        free = {*changed, *[slot.key for slot in carried]}
        watched = [
            slot
            for slot in tree.of_kind(Kind.PLAIN, Kind.ARRAY, Kind.FIXED, Kind.OBJECT)
            if slot.key not in free and slot.owner.role is not Role.PARAMETER
        ]
        others = [slot for slot in watched if slot.owner.role not in OF_OPTIMIZERS]
        self._places = Places(others, _of_role(tree, Role.LINK))
        # Comparing settings of optimizers takes a tenth of the time of a small step. So they are
        # compared only after optimizer_changes was renewed. A rule that gets hyperparameters of its
        # own shares no numbers with others.
        settings = [s for s in watched if s.owner.role in OF_OPTIMIZERS and not _varies(s)]
        self._settings = Places(settings, _of_role(tree, Role.HYPERPARAMETERS, Role.HOOKS))
        self._groups = groups
        self._change: int | None = None
        self._carried = [(slot, _signature_of(slot.value)) for slot in carried]
        # Lists for hold(), which has to be quick.
        self._parameters = tree.parameters
        self._facts = list(map(_get_facts, tree.parameters))
        self._enabled = [_is_enabled(p.update_rule) for p in tree.parameters]
        small = [p for p in tree.parameters if not is_told_by_comparison(p._array)]
        self._small = [(p, p._array) for p in small]
        found: list[tuple[object, Callable[[], bool]]] = [
            (self._parameters, self._parameters_hold),
            *[(True, check) for check in self._places.checks],
            (self._carried, self._carried_hold),
            (self._settings.checks or self._groups, self._settings_hold),
        ]
        self._checks = [check for needed, check in found if needed]

    def _carried_hold(self) -> bool:
        return all([_signature_of(slot.get()) == known for slot, known in self._carried])

    def hold(self) -> bool:
        """Returns whether nothing has changed. If something has, :meth:`changed` returns what."""
        try:
            for check in self._checks:  # noqa: SIM110 - all() takes longer
                if not check():
                    return False
            return True
        except (KeyError, TypeError, ValueError, NotImplementedError):
            return False  # something was deleted, or a number is an array or a Variable now

    def _parameters_hold(self) -> bool:
        return list(map(_get_facts, self._parameters)) == self._facts and all(
            [p._array is array for p, array in self._small]
        )

    def _settings_hold(self) -> bool:
        if self._change == optimizer_changes.value:
            return True
        # Read before the settings are compared: another thread may change them meanwhile.
        change = optimizer_changes.value
        if not self._settings.hold() or any(map(_differ, self._groups)):
            return False
        self._change = change
        return True

    def expect_counts(self) -> None:
        """Accepts that the program itself has raised the counts of updates."""
        # Other programs have to compare the settings again. This one knows what has changed: all
        # counts are higher by one.
        before = optimizer_changes.value
        after = optimizer_changes.renew()
        if before == self._change and after == before + 1:
            self._change = after

    def changed(self) -> str | None:
        """Returns what has changed; None if the program may run."""
        for p, (array, requires_grad, rule), enabled in zip(
            self._parameters, self._facts, self._enabled, strict=True
        ):
            if p._array is not array:
                return f"the array of parameter {p.name!r} was replaced"
            if p._requires_grad is not requires_grad:
                return f"requires_grad of parameter {p.name!r} has changed"
            if p.update_rule is not rule or _is_enabled(rule) != enabled:
                return f"the update rule of parameter {p.name!r} has changed"
        for slot, signature in self._carried:
            if _signature_of(slot.get()) != signature:
                return f"{slot} is of another kind, shape or dtype"
        if any(map(_differ, self._groups)):
            return "parameters have been updated at different steps"
        return self._places.changed() or self._settings.changed()


def _of_role(tree: StateTree, *roles: Role) -> list[Owner]:
    return [owner for owner in tree.owners if owner.role in roles]


def _varies(slot: Slot) -> bool:
    """Returns whether the program reads a hyperparameter anew at each call."""
    varies = slot.owner.varies
    # One that is None is not a number, so that the program does without.
    return varies is not None and slot.value is not None and varies(slot.name)


def _differ(rules: Sequence[UpdateRule]) -> bool:
    return len(set(map(_get_count, rules))) > 1


def _is_enabled(rule: UpdateRule | None) -> bool:
    return rule is not None and rule.enabled


def _signature_of(value: object) -> object:
    """Returns kind, shape and dtype of an array or a Variable; None for other objects."""
    array = array_of(value)
    return (isinstance(value, Variable), array.shape, array.dtype) if is_array(array) else None
