"""The writer of captured steps: :meth:`CapturedStep.save`.

:mod:`chainer_step_player` says what a file holds. Here names are found for the slots of a step,
formulas for the numbers that vary, and the entries of snapshots.
:mod:`~chainer.training.capturing.loaded_step` reads the file.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy

import chainer_step_player
from chainer.core.arrays.backend import is_array
from chainer.core.arrays.expressions import CountExpression, Expression, formula_of
from chainer.core.arrays.recorder import NotRecordableError, VaryingNumber
from chainer.core.typing import Array, DType, FilePath, HostArray
from chainer.core.version import __version__
from chainer.links.link import Link
from chainer.links.serializers.npz import DictionarySerializer
from chainer.training.capturing.state import Kind, Role, Slot, StateTree, array_of, each_once
from chainer.training.capturing.step_record import StepRecord
from chainer.training.capturing.structure import Structure, leaves_of
from chainer.training.optimizers.optimizer import Optimizer
from chainer.training.optimizers.recorded_scalars import PresentScalar
from chainer.training.optimizers.update_rule import UpdateRule

Json = Any


class _Values(DictionarySerializer):
    """Collects what objects would save, as the very objects."""

    def __getitem__(self, key: str) -> _Values:
        return _Values(self.target, self.path + key.strip("/") + "/")

    def __call__(self, key: str, value: Any) -> Any:
        self.target[self.path + key.lstrip("/")] = value
        return value


class StepFile:
    """What becomes the file of a step.

    Args:
        tree: The slots of the step.
        targets: Links and optimizers, as the user gave them.
        records: The records.
    """

    def __init__(
        self, tree: StateTree, targets: list[Link | Optimizer], records: Sequence[StepRecord]
    ) -> None:
        self._tree, self._targets = tree, targets
        self._records = records
        # Results in attributes, such as the loss of a classifier, are not states of the step.
        self._lasting = {slot.key for record in records for slot in record.carried}
        for link in tree.links:
            self._lasting |= {(id(vars(link)), name) for name in link._persistent}
        self._memory: list[Array] = []
        self._known: dict[int, int] = {}
        #: They live as long as their identities are keys.
        self._holders: list[object] = []
        self.counters: dict[str, int] = {}
        self.hyperparameters: dict[str, float] = {}
        self.programs: list[dict[str, Json]] = []
        roots = each_once([t.target if isinstance(t, Optimizer) else t for t in targets])
        found = [root for root in roots if root is not None]
        #: Names of links and parameters by their identities, of update rules by those of their
        #: dictionaries, and so on.
        self._names: dict[int, str] = {}
        for i, root in enumerate(found):
            prefix = f"{i}/" if len(found) > 1 else ""
            for name, link in root.namedlinks():
                self._names.setdefault(id(vars(link)), prefix + name.strip("/"))
            for name, parameter in root.namedparams():
                self._names.setdefault(id(parameter), prefix + name.strip("/"))
        for p in tree.parameters:
            if p.update_rule is not None:
                self._names[id(vars(p.update_rule))] = self._names[id(p)]
        for i, optimizer in enumerate(tree.optimizers):
            label = f"optimizer{i}" if len(tree.optimizers) > 1 else ""
            self._names[id(vars(optimizer))] = label
            self._names[id(getattr(optimizer, "hyperparam", None))] = label

    # -- memory -----------------------------------------------------------------------------------

    def index(self, owner: Array) -> int:
        """Returns the number of a piece of memory, by the array that owns it."""
        found = self._known.get(id(owner))
        if found is None:
            found = self._known[id(owner)] = len(self._memory)
            self._memory.append(owner)
        return found

    def place(self, array: Array) -> list[Json]:
        """Returns where an array is in the memory."""
        if type(array) is not numpy.ndarray:
            return self.place_of(*self._records[0].program.memory_of(array))
        _check_dtype(array.dtype)
        owner = array
        while isinstance(owner.base, numpy.ndarray):
            owner = owner.base
        offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return [self.index(owner), offset, list(array.shape), list(array.strides), array.dtype.str]

    def place_of(self, holder: object, values: HostArray) -> list[Json]:
        """Returns where the values of another object are in the memory; they begin a piece."""
        _check_dtype(values.dtype)
        found = self._known.get(id(holder))
        if found is None:
            self._holders.append(holder)
            found = self._known[id(holder)] = len(self._memory)
            self._memory.append(numpy.array(values, order="C"))
        owner = self._memory[found]
        return [found, 0, list(owner.shape), list(owner.strides), owner.dtype.str]

    # -- numbers ----------------------------------------------------------------------------------

    def counter(self, members: dict[str, Any], name: str) -> str:
        """Returns the name of a number that grows."""
        label = f"{self._names[id(members)]}/{name}".lstrip("/")
        self.counters[label] = members[name]
        return label

    def formula(self, number: VaryingNumber) -> Json:
        """Returns the formula of a number.

        Raises:
            NotRecordableError: If there is none, or if it differs from the number.
        """
        found = formula_of(number, self._formula_of_scalar)
        computed = chainer_step_player.computing(found, self.counters, self.hyperparameters)()
        if computed != number.evaluate():
            raise NotRecordableError("a number of an update rule differs from its formula")
        return found

    def _formula_of_scalar(self, evaluate: Any) -> Json:
        if not isinstance(evaluate, PresentScalar):
            raise NotRecordableError("a number that varies is not one of an update rule")
        rule = evaluate.rule
        count = CountExpression(["counter", self.counter(vars(rule), "t")])
        entries: dict[str, Any] = {}
        for name, value in rule.hyperparam.get_dict().items():
            if rule.hyperparam.varies(name):
                is_own = name in vars(rule.hyperparam) or rule.hyperparam.parent is None
                owner = self._names[id(vars(rule) if is_own else rule.hyperparam.parent)]
                label = f"{owner}/{name}".lstrip("/")
                self.hyperparameters[label] = float(value)
                value = Expression(["hyperparameter", label])
            entries[name] = value
        hyperparam = SimpleNamespace(**entries)
        try:
            value = evaluate.of(hyperparam, _RuleOfExpressions(rule, count, hyperparam))
        except (NotRecordableError, TypeError, NotImplementedError) as error:
            raise NotRecordableError(
                f"{type(rule).__name__} computes {evaluate.name!r} in a way that no formula tells: "
                f"{error}"
            ) from error
        return ["float", formula_of(value)]

    # -- the parts of the file --------------------------------------------------------------------

    def add(self, key: Structure, record: StepRecord) -> None:
        """Adds the program of a record.

        Args:
            key: Structure of the arguments.
            record: The record.
        """
        counters = [[self.counter(m, name), step] for m, name, step in record.counters]
        leaves = list(leaves_of(record.structure))
        self.programs.append(
            {
                **record.program.portable(self),
                "signature": _structure(key),
                "result": _structure(record.structure),
                "results": len(leaves),
                "variables": [leaf[1] is not None for leaf in leaves],
                "constants": {str(i): self.place(a) for i, a in record.constants.items()},
                "repeated": {str(i): j for i, j in record.repeated.items()},
                "counters": counters,
                "carried": [self._place_of_slot(slot) for slot in record.carried],
                "stored": [
                    self._place_of_slot(slot) if slot.key in self._lasting else None
                    for slot, _ in record.stored
                ],
                "reports": [list(report) for report in record.reports],
                "gradients": [self._names[id(p)] for p in record.gradients],
            }
        )

    def _place_of_slot(self, slot: Slot) -> list[Json]:
        return self.place(array_of(slot.get()))

    def _states(self) -> dict[str, Json]:
        found = {self._names[id(p)]: self.place(p.array) for p in self._tree.parameters}
        for slot in self._tree.of_kind(Kind.ARRAY, Kind.VARIABLE):
            array = array_of(slot.get())
            if slot.owner.role is Role.LINK and slot.key in self._lasting and is_array(array):
                label = f"{self._names[slot.owner.identity]}/{slot.name}".lstrip("/")
                found[label] = self.place(array)
        return found

    def _snapshots(self) -> Iterator[dict[str, list[Json]]]:
        for target in self._targets:
            counters: dict[str, str] = {}
            if isinstance(target, Optimizer):
                counters["t"] = self.counter(vars(target), "t")
                assert target.target is not None
                for name, p in target.target.namedparams():
                    if p.update_rule is not None:
                        counters[f"{name.strip('/')}/t"] = self.counter(vars(p.update_rule), "t")
            values = _Values()
            target.serialize(values)
            found: dict[str, list[Json]] = {}
            for key, value in values.target.items():
                if key in counters:
                    found[key] = ["counter", counters[key]]
                elif is_array(value):
                    found[key] = ["array", self.place(value)]
                else:
                    plain = value.item() if isinstance(value, numpy.generic) else value
                    found[key] = ["value", plain]
            yield found

    def write(self, path: FilePath) -> None:
        """Writes the file."""
        states, snapshots = self._states(), list(self._snapshots())
        names = [call[1] for program in self.programs for call in program.get("calls", ())]
        header: dict[str, Json] = {
            "format": chainer_step_player.FORMAT,
            "version": chainer_step_player.VERSION,
            "byteorder": sys.byteorder,
            "chainer": __version__,
            "numpy": numpy.__version__,
            "random": None,
            "counters": self.counters,
            "hyperparameters": self.hyperparameters,
            "states": states,
            "snapshots": snapshots,
            "programs": self.programs,
            "memory": len(self._memory),
        }
        arrays: dict[str, HostArray] = {}
        for i, owner in enumerate(self._memory):
            data = owner.ravel(order="K")
            arrays[f"memory{i}"] = numpy.ndarray((owner.nbytes,), numpy.uint8, data)
        if any([name.startswith("random:") for name in names]):
            _, keys, *header["random"] = cast("tuple[Any, ...]", numpy.random.get_state())
            arrays["random"] = keys
        chainer_step_player.write(path, header, arrays)


class _RuleOfExpressions:
    """An update rule whose count and hyperparameters are expressions."""

    def __init__(self, rule: UpdateRule, count: CountExpression, hyperparam: object) -> None:
        self._rule, self.t, self.hyperparam = rule, count, hyperparam

    def __getattr__(self, name: str) -> Any:
        found = getattr(type(self._rule), name, None)
        if isinstance(found, property) and found.fget is not None:
            return found.fget(self)
        return getattr(self._rule, name)


def _check_dtype(dtype: DType) -> None:
    if dtype.hasobject or numpy.dtype(dtype.str) != dtype:
        raise NotRecordableError(f"a file of a step cannot hold arrays of {dtype}")


def _structure(structure: Structure) -> Json:
    """Returns a nested structure in the form of a file."""
    if len(structure) == 4:
        return {"array": [structure[2].str, list(structure[3])]}
    cls, value, *_ = structure
    if cls in (tuple, list):
        return {cls.__name__: [_structure(part) for part in value]}
    if cls is dict:
        if not all([type(key) is str for key, _ in value]):
            raise NotRecordableError("keys of dicts must be strings")
        return {"dict": [[key, _structure(part)] for key, part in value]}
    if cls in (type(None), bool, int, float, str):
        return {"value": [cls.__name__, value if cls is str else repr(value)]}
    raise NotRecordableError(f"an argument or a result is of the class {cls.__name__}")


def save_step(
    path: FilePath,
    tree: StateTree,
    targets: list[Any],
    records: list[tuple[Structure, StepRecord]],
    player: bool,
) -> None:
    """Writes the file of a step.

    Args:
        path: The file.
        tree: The slots of the step.
        targets: Its targets.
        records: Structures of arguments, and the records for them.
        player: Whether the player is copied beside the file.

    Raises:
        NotRecordableError: If a file cannot hold the step.
    """
    file = StepFile(tree, targets, [record for _, record in records])
    for structure, record in records:
        file.add(structure, record)
    file.write(path)
    if player:
        folder = os.path.dirname(os.path.realpath(os.fspath(path)))
        shutil.copy(chainer_step_player.__file__, os.path.join(folder, "chainer_step_player.py"))
