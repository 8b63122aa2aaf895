"""What the code of a step reads besides its arguments and targets: closures, globals, objects.

A program repeats what the recorded run has read. So the values that the code names are slots like
those of links: a change makes a new recording, and a step that changes them runs as it is written.
Values that code reaches without naming them (``getattr`` with a computed name, files, the clock)
stay invisible; ``capture(audit=n)`` finds these.
"""

from __future__ import annotations

import argparse
import dis
import functools
import types
from collections.abc import Callable, Iterator, Sequence

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.variable import Variable
from chainer.links.link import Link
from chainer.training.capturing.circumstances import is_of_user
from chainer.training.capturing.state import PLAIN, Fields, Owner, Role, StateTree, is_long
from chainer.training.optimizers.optimizer import Optimizer

#: Objects that are looked at. A step whose code reaches more is watched in part.
_MOST_OBJECTS = 1000

_READS_GLOBAL = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL"))
_READS_ATTRIBUTE = frozenset(("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"))


class _Walk:
    """Follows code to the objects that it names.

    Args:
        tree: The targets, which are told by the tree.
    """

    def __init__(self, tree: StateTree) -> None:
        self._told = {id(x) for x in (*tree.links, *tree.optimizers, *tree.rules)}
        self._told |= {id(p) for p in tree.parameters}
        self._seen: dict[int, object] = {}
        self._attributes: set[str] = set()
        #: Objects whose attributes are read, if code names them, and where they are found.
        self._holders: list[tuple[str, object]] = []
        self._globals: dict[int, tuple[dict[str, object], set[str]]] = {}
        self._fields: list[Owner] = []
        for target in (*tree.links, *tree.optimizers):
            self.visit(type(target), "")
            if isinstance(target, Optimizer) and target._hooks is not None:
                self.visit([*target._hooks.pre.values(), *target._hooks.post.values()], "a hook")

    def owners(self) -> list[Owner]:
        """Returns the owners of all slots that the code names."""
        # An attribute may lead to code that names more attributes.
        count = -1
        while count != len(self._seen):
            count = len(self._seen)
            for label, holder in list(self._holders):
                for name in self._named(vars(holder)):
                    self.visit(vars(holder)[name], f"{label}.{name}")
        found = list(self._fields)
        for members, names in self._globals.values():
            module = members.get("__name__", "a module")
            found.append(Owner(Role.SURROUNDINGS, f"module {module}", members, sorted(names)))
        for label, holder in self._holders:
            members = vars(holder)
            if not isinstance(members, dict):
                continue  # of a class: its attributes are functions
            names = None if isinstance(holder, Link) else self._named(members)
            found.append(Owner(Role.SURROUNDINGS, label, members, names))
        return found

    def _named(self, members: object) -> list[str]:
        return [n for n in members if n in self._attributes] if isinstance(members, dict) else []

    def visit(self, value: object, label: str) -> None:
        """Follows a value that code names.

        Args:
            value: The value.
            label: How code reaches it.
        """
        if isinstance(value, PLAIN) or is_array(value) or id(value) in self._seen:
            return
        if is_long(value) or len(self._seen) >= _MOST_OBJECTS:
            return
        self._seen[id(value)] = value
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple, set)):
            for part in value:
                self.visit(part, label)
        elif isinstance(value, type):
            self._visit_class(value, label)
        elif isinstance(value, types.ModuleType):
            if is_of_user(value.__name__):
                self._holders.append((f"module {value.__name__}", value))
        elif not self._visit_callable(value, label):
            self._visit_object(value, label)

    def _visit_class(self, cls: type, label: str) -> None:
        for base in cls.__mro__:
            if is_of_user(base.__module__):
                members = vars(base).values()
                self.visit([m for m in members if callable(m)], label)
                self.visit([m.fget for m in members if type(m) is property], label)

    def _visit_callable(self, value: object, label: str) -> bool:
        """Follows a function; returns whether the value is one."""
        if isinstance(value, functools.partial):
            self._fields.append(Fields(Role.SURROUNDINGS, label, value, ("args", "keywords")))
            self.visit([value.func, *value.args, *value.keywords.values()], label)
        elif isinstance(value, types.MethodType):
            self.visit(value.__func__, label)
            self.visit(value.__self__, type(value.__self__).__name__)
        elif isinstance(value, types.FunctionType):
            if is_of_user(value.__module__):
                self._visit_function(value)
        else:
            return False
        return True

    def _visit_object(self, value: object, label: str) -> None:
        if id(value) in self._told:
            return
        if isinstance(value, Variable):
            owner = Fields(Role.SURROUNDINGS, label, value, ("_array", "_requires_grad"))
            self._fields.append(owner)
        elif isinstance(value, Link):
            self._holders.append((label, value))
            self.visit([*vars(value).values(), type(value)], label)
        elif hasattr(value, "__dict__") and _has_settings(type(value)):
            self._holders.append((type(value).__name__, value))
            self.visit(type(value), label)

    def _visit_function(self, function: types.FunctionType) -> None:
        name = function.__qualname__
        for cell, variable in zip(function.__closure__ or (), function.__code__.co_freevars):
            owner = Fields(Role.SURROUNDINGS, f"{variable!r} in {name}", cell, ("cell_contents",))
            self._fields.append(owner)
            self.visit(owner.get("cell_contents"), variable)
        if function.__defaults__ or function.__kwdefaults__:
            names = ("__defaults__", "__kwdefaults__")
            self._fields.append(Fields(Role.SURROUNDINGS, name, function, names))
            self.visit([function.__defaults__, function.__kwdefaults__], name)
        members = function.__globals__
        for kind, read in _names_in(function.__code__):
            if kind in _READS_ATTRIBUTE:
                self._attributes.add(read)
            elif read in members:
                self._globals.setdefault(id(members), (members, set()))[1].add(read)
                self.visit(members[read], read)


def _has_settings(cls: type) -> bool:
    return is_of_user(cls.__module__) or cls in (types.SimpleNamespace, argparse.Namespace)


def _names_in(code: types.CodeType) -> Iterator[tuple[str, str]]:
    """Yields the operations of code that read names, also of functions within."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in _READS_GLOBAL or instruction.opname in _READS_ATTRIBUTE:
            yield instruction.opname, str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def tree_of(
    function: Callable[..., object], targets: Sequence[object], with_updates: bool = True
) -> StateTree:
    """Returns the slots of a step: those of its targets, and those that its code reads besides.

    Args:
        function: The step.
        targets: Links and optimizers.
        with_updates: Whether the step may update parameters, which needs update rules.
    """
    tree = StateTree.of(targets, with_updates)
    walk = _Walk(tree)
    walk.visit(function, getattr(function, "__qualname__", type(function).__name__))
    tree.add(walk.owners())
    return tree
