"""Captured steps as files: :meth:`CapturedStep.save` and :func:`chainer.load_step`.

:mod:`chainer_step_player` says what a file holds, and runs it. Here is what needs Chainer: finding
names for the slots of a step, the formulas of numbers that vary, the entries of snapshots, and the
kernels that calls name.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import numpy

import chainer_step_player
from chainer.backends import operations
from chainer.core.arrays import lookup
from chainer.core.arrays.backend import backend_of, is_array
from chainer.core.arrays.expressions import CountExpression, Expression, formula_of
from chainer.core.arrays.kernel import get_operation
from chainer.core.arrays.recorder import NotRecordableError, VaryingNumber
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, DType, FilePath, HostArray
from chainer.core.version import __version__
from chainer.links.link import Link
from chainer.links.serializers.file_format import FileFormatError
from chainer.links.serializers.npz import DictionarySerializer, NpzDeserializer
from chainer.training.capturing.circumstances import current_reporter
from chainer.training.capturing.state import Kind, Role, Slot, StateTree, array_of, each_once
from chainer.training.capturing.step_record import CapturedVariable, StepRecord
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


class LoadedStep:
    """A captured step from a file; made by :func:`chainer.load_step`.

    Attributes:
        counters (dict): Numbers of updates by their names.
        hyperparameters (dict): Hyperparameters that may vary, such as learning rates. Assign other
            numbers to its entries between calls.
        states (dict): Arrays of parameters and of other states of links, by their paths. They may
            be changed in place.
        gradients (dict): Gradients of the last call by the names of parameters, if the step was
            captured with ``keep_grads``.
    """

    def __init__(self, path: FilePath) -> None:
        self._step = chainer_step_player.load(path, _Kernels())
        programs = [program._data for program in self._step._programs]
        calls = [call for program in programs for call in program.get("calls", ())]
        backends = {program["backend"] for program in programs if "backend" in program}
        #: Backend of the results; None for NumPy.
        self._backend = lookup.get_backend(backends.pop()) if backends else None
        made_by = self._step._header["chainer"]
        if any([call[1].startswith("kernel:") for call in calls]) and made_by != __version__:
            raise chainer_step_player.StepFileError(
                f"{os.fspath(path)}: the step calls kernels of Chainer {made_by}, and this is "
                f"Chainer {__version__}"
            )
        self.counters: dict[str, int] = self._step.counters
        self.hyperparameters: dict[str, float] = self._step.hyperparameters
        self.states: dict[str, HostArray] = self._step.states

    def __repr__(self) -> str:
        counts = f"{len(self._step._programs)} programs and {len(self.states)} states"
        return f"<{type(self).__name__} of {counts}>"

    @property
    def gradients(self) -> dict[str, HostArray]:
        """Gradients of the last call."""
        return self._step.gradients

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Repeats the step; takes and returns what the captured function does."""
        step = self._step
        program, found = step.program_for(_arrays(args), _arrays(kwargs))
        reporter = current_reporter()
        with step.lock:
            leaves = program.run(step, found)
            reported = step.reported
        are_variables = program._data["variables"]
        leaves = [self._sent(array) for array in leaves]
        values: list[Any] = [CapturedVariable(a) if v else a for a, v in zip(leaves, are_variables)]
        for i, first in program._data["repeated"].items():
            values[int(i)] = values[first]
        if reporter is not None:
            for key, is_variable in program._data["reports"]:
                value = self._sent(reported[key])
                reporter.observation[key] = CapturedVariable(value) if is_variable else value
        return chainer_step_player.unflatten(program.result, iter(values))

    def _sent(self, array: HostArray) -> Any:
        backend = self._backend
        return array if backend is None else backend.from_host(array, backend.device())

    def snapshot(self, target: int = 0) -> dict[str, HostArray]:
        """Returns what a target would save now, as :func:`chainer.serializers.save_npz` does.

        Args:
            target (int): Its place among the targets of :func:`chainer.capture`.

        Returns:
            dict: Arrays by the paths of entries.
        """
        return self._step.snapshot(target)

    def copy_to(self, *targets: Any) -> None:
        """Gives links and optimizers the present state of the step.

        Args:
            targets: As many links and optimizers as :func:`chainer.capture` got, in its order, or
                less. They are of the same structure.

        Example:
            >>> import os, tempfile
            >>> link = L.Linear(3, 2)
            >>> step = chainer.capture(lambda x: link(x), link)
            >>> x = np.ones((1, 3), np.float32)
            >>> for _ in range(3):
            ...     y = step(x)
            >>> path = os.path.join(tempfile.mkdtemp(), 'step.npz')
            >>> step.save(path)
            >>> other = L.Linear(3, 2)
            >>> chainer.load_step(path).copy_to(other)
            >>> bool((other.W.array == link.W.array).all())
            True
        """
        for number, target in enumerate(targets):
            NpzDeserializer(cast(Any, self.snapshot(number))).load(target)

    def save(self, path: FilePath) -> None:
        """Writes a file with the present state.

        Args:
            path: The file. It is replaced when the new one is complete.
        """
        self._step.save(path)

    def explain(self) -> str:
        """Returns what the step takes, and where its file was made."""
        header = self._step._header
        lines = [f"step from a file of Chainer {header['chainer']}, NumPy {header['numpy']}"]
        for program in self._step._programs:
            shapes = ", ".join(chainer_step_player._described(program.signature))
            data = program._data
            calls = f"{len(data['calls'])} calls of NumPy" if "calls" in data else "one program"
            lines.append(f"  takes ({shapes}): {calls}")
        return "\n".join(lines)


class _Kernels:
    """The kernels that a file may name; see :func:`chainer_step_player.load`."""

    def method(self, operation: str, name: str) -> Any:
        """Returns a method of the reference kernel of an operation."""
        try:
            found = get_operation(operation)
        except LookupError as error:
            raise chainer_step_player.StepFileError(
                f"the step calls the operation {operation!r}, which is not known here"
            ) from error
        if name not in found.methods:
            raise chainer_step_player.StepFileError(f"{operation!r} has no method {name!r}")
        return getattr(found.reference_for(lookup.get_backend("numpy")), name)

    def program(self, backend: str, data: bytes) -> Callable[..., Any]:
        """Returns the program of another backend."""
        try:
            return lookup.get_backend(backend).exported_program(data)
        except (ImportError, LookupError, RuntimeError, ValueError) as error:
            raise chainer_step_player.StepFileError(
                f"the step is a program of the backend {backend!r}: {error}"
            ) from error

    def record(self, name: str) -> type:
        """Returns the class of an argument of kernels."""
        module, _, cls = name.partition(".")
        found: Any = None
        if module.isidentifier() and cls.isidentifier():
            try:
                found = getattr(import_module(f"{operations.__name__}.{module}"), cls, None)
            except ModuleNotFoundError:
                found = None
        if not (isinstance(found, type) and issubclass(found, tuple)):
            raise chainer_step_player.StepFileError(f"the class {name!r} is not known")
        return found


def _arrays(value: Any) -> Any:
    """Returns nested arguments with NumPy arrays in place of Variables and other arrays."""
    if isinstance(value, Variable):
        value = value.array
    if is_array(value):
        return backend_of(value).to_host(value)
    if isinstance(value, dict):
        return {key: _arrays(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [_arrays(part) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def load_step(path: FilePath) -> LoadedStep:
    """Reads a captured step from a file that :meth:`CapturedStep.save` wrote.

    The file holds the calls of NumPy, the parameters, the states and counters of optimizers, and
    names. The code of the model is not needed, and nothing is unpickled. A process without Chainer
    runs most steps by ``chainer_step_player``, a single file that needs NumPy only.

    Args:
        path: The file.

    Returns:
        LoadedStep: The step, to be called as the captured one. Random numbers come from a generator
        of its own, which goes on where NumPy's was when the step was saved.

    Raises:
        FileFormatError: (a ValueError of :mod:`chainer.serializers`) If the file is another one,
            of another version, or damaged, or if it names a call that is not known. A step that
            calls kernels of Chainer (pooling, embedding and others) needs the release that wrote
            the file.

    Example:
        >>> import os, tempfile
        >>> model = L.Classifier(L.Linear(3, 2))
        >>> optimizer = chainer.optimizers.Adam().setup(model)
        >>> def train_step(x, t):
        ...     loss = model(x, t)
        ...     model.cleargrads()
        ...     loss.backward()
        ...     optimizer.update()
        ...     return loss
        >>> step = chainer.capture(train_step, model, optimizer)
        >>> x, t = np.ones((4, 3), np.float32), np.array([0, 1, 1, 0], np.int32)
        >>> for _ in range(3):
        ...     loss = step(x, t)
        >>> path = os.path.join(tempfile.mkdtemp(), 'step.npz')
        >>> step.save(path)
        >>> loaded = chainer.load_step(path)
        >>> loaded(x, t).array == step(x, t).array
        True
        >>> loaded.counters['t']
        4
        >>> sorted(loaded.states)
        ['predictor/W', 'predictor/b']
    """
    try:
        return LoadedStep(path)
    except chainer_step_player.StepFileError as error:
        raise FileFormatError(str(error)) from error
