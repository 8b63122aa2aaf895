"""The state tree of a step: each place that the step may read or change is told once.

A :class:`StateTree` lists the slots of links, optimizers, update rules and parameters, and of the
Python objects that the code of the step reads. All else is a map over the slots:
:class:`~.snapshot.Snapshot` copies and restores them, :class:`~.substitution.Substitution` puts
arrays of a recorder in them, :meth:`StateTree.changes` compares two trees, and
:class:`~.guards.Guards` watches them between calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain
from operator import is_
from typing import Any, TypeVar, cast

import numpy

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array
from chainer.links.link import Link
from chainer.training.optimizers.optimizer import Optimizer
from chainer.training.optimizers.update_rule import UpdateRule

#: Python values that are compared by value.
PLAIN = (bool, int, float, complex, str, bytes, type(None), numpy.generic)

#: The contents of a slot that does not exist.
MISSING = object()


class Kind(Enum):
    """What a slot holds, which decides how it is treated."""

    #: A number, a string or None.
    PLAIN = "plain"
    #: The number of updates of an optimizer or a rule. Other steps may raise it.
    COUNT = "count"
    #: An array that a step may change in place.
    ARRAY = "array"
    #: A Variable other than a parameter, such as the state of an LSTM.
    VARIABLE = "variable"
    #: An object that has to stay the same, such as a parameter as an attribute of a link.
    FIXED = "fixed"
    #: Another object, such as a function or a list.
    OBJECT = "object"
    #: The array of a parameter.
    DATA = "data"
    #: The gradient of a parameter.
    GRADIENT = "gradient"


class Role(Enum):
    """The kind of object that slots belong to."""

    LINK = "link"
    OPTIMIZER = "optimizer"
    RULE = "rule"
    #: The dictionary of the state of a rule.
    STATE = "state"
    HYPERPARAMETERS = "hyperparameters"
    PARAMETER = "parameter"
    #: The hooks of an optimizer or a rule, by name.
    HOOKS = "hooks"
    #: The attributes of a hook.
    HOOK = "hook"
    #: A Python object, a module or a closure that the code of a step reads.
    SURROUNDINGS = "surroundings"


#: Roles whose changes :data:`optimizer_changes` tells.
OF_OPTIMIZERS = frozenset((Role.OPTIMIZER, Role.RULE, Role.HYPERPARAMETERS, Role.HOOKS))

#: Attributes of parameters that are slots.
_FIELDS = {
    "_array": Kind.DATA,
    "_gradient": Kind.GRADIENT,
    "_requires_grad": Kind.PLAIN,
    "update_rule": Kind.OBJECT,
}

#: Attributes that no step depends on: the epoch is counted outside of steps, and a static chain
#: sets its schedules at each call as written.
_IGNORED = {
    Role.OPTIMIZER: frozenset(("epoch", "_auto_epochs")),
    Role.LINK: frozenset(("schedule_manager", "static_schedule")),
}

#: Identity of the owner, and name.
Key = tuple[int, str]

_T = TypeVar("_T")


class Owner:
    """An object whose attributes are slots.

    Args:
        role: Its role.
        label: Its name in messages.
        members: The dictionary of its attributes.
        names: Names of the attributes that are slots. By default, all are.
        is_of_library: Whether its class is one of Chainer.
        varies: For hyperparameters: whether a program computes an entry anew at each call.
    """

    def __init__(
        self,
        role: Role,
        label: str,
        members: dict[str, Any],
        names: Sequence[str] | None = None,
        is_of_library: bool = False,
        varies: Callable[[str], bool] | None = None,
    ) -> None:
        self.role, self.label, self.members, self.names = role, label, members, names
        self.is_of_library = is_of_library
        self.varies = varies
        self.identity = id(members)

    def get(self, name: str) -> object:
        """Returns the contents of a slot."""
        return self.members.get(name, MISSING)

    def set(self, name: str, value: object) -> None:
        """Changes the contents of a slot."""
        self.members[name] = value

    def contents(self) -> dict[str, object]:
        """Returns the contents of all slots that exist."""
        if self.names is None:
            return dict(self.members)
        found = [(name, self.get(name)) for name in self.names]
        return {name: value for name, value in found if value is not MISSING}

    def restore(self, contents: dict[str, object]) -> None:
        """Gives all slots the contents that they had."""
        for name in self.contents().keys() - contents.keys():
            del self.members[name]
        for name, value in contents.items():
            self.set(name, value)


class Fields(Owner):
    """An object that keeps attributes outside of a dictionary: a parameter or a closure cell."""

    def __init__(self, role: Role, label: str, target: object, names: Sequence[str]) -> None:
        super().__init__(role, label, {}, names)
        self.target = target
        self.identity = id(target)

    def get(self, name: str) -> object:
        """Returns the contents of a slot."""
        # The cell of a variable that is not assigned yet is empty.
        try:
            return getattr(self.target, name)
        except (AttributeError, ValueError):
            return MISSING

    def set(self, name: str, value: object) -> None:
        """Changes the contents of a slot."""
        if self.get(name) is not value:  # attributes of functools.partial cannot be set
            setattr(self.target, name, value)


class Slot:
    """A place that a step may read or change.

    Attributes:
        owner: The object that it belongs to.
        name: Name of the attribute.
        kind: What it held when the tree was made.
        value: Its contents at that time. Of lists, dicts and sets, a copy.
    """

    __slots__ = ("kind", "name", "owner", "value")

    def __init__(self, owner: Owner, name: str, kind: Kind, value: object) -> None:
        self.owner, self.name, self.kind = owner, name, kind
        self.value = copied_container(value) if kind is Kind.OBJECT else value

    @property
    def key(self) -> Key:
        """Tells slots apart."""
        return self.owner.identity, self.name

    def get(self) -> object:
        """Returns the contents that it has now."""
        return self.owner.get(self.name)

    def set(self, value: object) -> None:
        """Changes its contents."""
        self.owner.set(self.name, value)

    def __str__(self) -> str:
        if self.name == "cell_contents":
            return self.owner.label
        return f"attribute {self.name!r} of {self.owner.label}"


class StateTree:
    """The slots of a step, with the contents that they have when the tree is made.

    Attributes:
        links: All links, each once.
        optimizers: The optimizers.
        parameters: All parameters, each once.
        rules: Their update rules.
        owners: The objects that slots belong to.
        slots: The slots by their keys.
    """

    def __init__(
        self,
        links: list[Link],
        optimizers: list[Optimizer],
        with_updates: bool,
    ) -> None:
        self.links, self.optimizers, self._with_updates = links, optimizers, with_updates
        self.parameters = each_once(chain(*[link.params() for link in links]))
        rules = [p.update_rule for p in self.parameters if p.update_rule is not None]
        self.rules: list[UpdateRule] = rules if with_updates else []
        self.owners: list[Owner] = []
        self.slots: dict[Key, Slot] = {}
        self.add(self._owners())

    @classmethod
    def of(cls, targets: Sequence[object], with_updates: bool = True) -> StateTree:
        """Returns the tree of links and optimizers as they are now.

        Args:
            targets: Links and optimizers.
            with_updates: Whether the step may update parameters, which needs update rules.

        Raises:
            TypeError: If a target is neither a link nor an optimizer.
        """
        roots: list[Link] = []
        optimizers: list[Optimizer] = []
        for target in targets:
            if isinstance(target, Optimizer):
                optimizers.append(target)
                roots += [] if target.target is None else [target.target]
            elif isinstance(target, Link):
                roots.append(target)
            else:
                raise TypeError(
                    f"targets must be links and optimizers, got {type(target).__name__}"
                )
        links = each_once(chain(*[root.links() for root in roots]))
        return cls(links, optimizers, with_updates)

    def add(self, owners: Iterable[Owner]) -> None:
        """Adds the slots of objects."""
        for owner in owners:
            self.owners.append(owner)
            for name, value in owner.contents().items():
                kind = _kind_of(owner.role, name, value)
                if kind is not None:
                    self.slots[owner.identity, name] = Slot(owner, name, kind, value)

    def _owners(self) -> Iterator[Owner]:
        objects: list[tuple[Role, object]] = [(Role.LINK, link) for link in self.links]
        objects += [(Role.OPTIMIZER, optimizer) for optimizer in self.optimizers]
        objects += [(Role.RULE, rule) for rule in self.rules]
        for role, target in objects:
            cls = type(target)
            is_of_library = cls.__module__.startswith("chainer.")
            yield Owner(role, cls.__name__, vars(target), is_of_library=is_of_library)
        # A rule with an update of its own may read any hyperparameter as a plain number.
        may_vary = all([rule.is_grouped for rule in self.rules])
        for target in (*self.optimizers, *self.rules):
            label = type(target).__name__
            hyperparam = getattr(target, "hyperparam", None)
            if hyperparam is not None:
                varies = hyperparam.varies if may_vary else None
                yield Owner(Role.HYPERPARAMETERS, label, vars(hyperparam), varies=varies)
            if target._hooks is not None:
                yield from _owners_of_hooks(f"hooks of {label}", target._hooks)
        for rule in self.rules:
            if rule.state is not None:
                yield Owner(Role.STATE, type(rule).__name__, rule.state)
        for p in self.parameters:
            yield Fields(Role.PARAMETER, f"parameter {p.name!r}", p, tuple(_FIELDS))

    def again(self) -> StateTree:
        """Returns the tree of the same objects, with the contents that slots have now."""
        tree = StateTree(self.links, self.optimizers, self._with_updates)
        tree.add([owner for owner in self.owners if owner.role is Role.SURROUNDINGS])
        return tree

    def changes(self, now: StateTree) -> Iterator[tuple[Slot, object, object]]:
        """Yields slots whose contents differ, with the contents in this tree and in another one.

        The contents are :data:`MISSING` where a slot does not exist.
        """
        for key in self.slots.keys() | now.slots.keys():
            before, after = self.slots.get(key), now.slots.get(key)
            old = MISSING if before is None else before.value
            new = MISSING if after is None else after.value
            if not is_same(old, new):
                yield cast(Slot, after or before), old, new

    def of_kind(self, *kinds: Kind) -> list[Slot]:
        """Returns the slots that hold something of given kinds."""
        return [slot for slot in self.slots.values() if slot.kind in kinds]

    def unshared_states(self) -> list[Array]:
        """Returns arrays in states of update rules that nothing but the state refers to.

        A program may keep their values in other memory, and no code notices.
        """
        found: list[Array] = []
        for rule in self.rules:
            state = rule.state or {}
            for name in state:
                # The dictionary refers to it, the slot of this tree, and getrefcount's argument.
                alone = sys.getrefcount(state[name]) <= 3
                if alone and is_array(state[name]):
                    found.append(state[name])
        return found


def _owners_of_hooks(label: str, registry: Any) -> Iterator[Owner]:
    for hooks in (registry.pre, registry.post):
        yield Owner(Role.HOOKS, label, hooks)
        for name, hook in hooks.items():
            if hasattr(hook, "__dict__"):
                yield Owner(Role.HOOK, f"hook {name!r}", vars(hook))


def _kind_of(role: Role, name: str, value: object) -> Kind | None:
    """Returns how a slot is treated; None if no step depends on it."""
    if role is Role.PARAMETER:
        return _FIELDS[name]
    if name in _IGNORED.get(role, ()):
        return None
    if name == "t" and role in (Role.OPTIMIZER, Role.RULE):
        return Kind.COUNT
    if isinstance(value, PLAIN):
        return Kind.PLAIN
    if isinstance(value, Variable):
        is_carried = role is not Role.SURROUNDINGS and not isinstance(value, Parameter)
        return Kind.VARIABLE if is_carried else Kind.FIXED
    if is_array(value):
        return Kind.ARRAY
    if role in (Role.OPTIMIZER, Role.RULE) and name.startswith("_"):
        # Objects in private attributes belong to the library, which may replace them.
        return Kind.FIXED if name == "_state" else None
    return Kind.OBJECT


def is_same(old: object, new: object) -> bool:
    """Returns whether contents of a slot have not changed.

    Plain values are compared by type and value, containers by what they hold, all else by identity.
    """
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, PLAIN):
        if old == new:
            return bool(old) or repr(old) == repr(new)  # 0.0 equals -0.0
        return old != old and new != new  # NaN equals nothing
    if isinstance(old, dict):
        others = cast("dict[object, object]", new)
        return list(old) == list(others) and is_same([*old.values()], [*others.values()])
    if isinstance(old, (list, tuple)):
        others = cast("Sequence[object]", new)
        if len(old) != len(others):
            return False
        # Usually the entries are the same objects, and Python compares these without a call each.
        return all(map(is_, old, others)) or all(map(is_same, old, others))
    return isinstance(old, set) and old == new


#: Entries of a container that are watched one by one. Of longer ones, such as a dataset in a list,
#: only the object is watched.
_MOST_ENTRIES = 1000


def is_long(value: object) -> bool:
    """Returns whether a container has too many entries to watch."""
    return isinstance(value, (list, tuple, dict, set)) and len(value) > _MOST_ENTRIES


def copied_container(value: object) -> object:
    """Returns a copy of a list, dict, set or tuple and those within; other objects as they are."""
    if is_long(value):
        return value
    if type(value) is dict:
        return {k: copied_container(v) for k, v in value.items()}
    if type(value) in (list, tuple):
        parts = [copied_container(v) for v in cast("list[object]", value)]
        return parts if type(value) is list else tuple(parts)
    return set(cast("set[object]", value)) if type(value) is set else value


def array_of(value: object) -> Any:
    """Returns the array of a Variable; other objects as they are."""
    return value.array if isinstance(value, Variable) else value


def each_once(objects: Iterable[_T]) -> list[_T]:
    """Returns objects in their order, each once."""
    return list({id(found): found for found in objects}.values())
