"""Records a step: runs it once with arrays of a recorder in all places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from chainer.core.arrays.backend import is_array
from chainer.core.arrays.recorder import NotRecordableError, Recorder
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.reporting.reporter import Reporter
from chainer.training.capturing.places import Places
from chainer.training.capturing.program import Guards, OptimizerSettings, Recording
from chainer.training.capturing.structure import Leaf, flatten, unflatten
from chainer.training.capturing.targets import (
    SIMPLE,
    Slot,
    Targets,
    array_slots,
    hook_settings,
    python_state,
    rules_of,
    variable_slots,
    watched_attributes,
    watched_parameters,
)
from chainer.training.optimizers.hyperparameter import Hyperparameter
from chainer.training.optimizers.recorded_scalars import RecordedScalars


class ReplacedArrayError(Exception):
    """The step replaces an array that was taken for one that it changes in place."""

    def __init__(self, keys: set[tuple[int, str]]) -> None:
        super().__init__(f"{len(keys)} arrays were replaced")
        self.keys = keys


class StepRecording:
    """One run of a step with a recorder.

    Args:
        function: The step.
        targets: Links and optimizers whose state the step may change.
        recorder: The recorder.
        keep_grads: Whether gradients of parameters are results.
        replaced: Places whose arrays the step replaces, by the identity of the dictionary and name.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        targets: Targets,
        recorder: Recorder,
        keep_grads: bool,
        replaced: set[tuple[int, str]],
    ) -> None:
        self._function = function
        self._targets = targets
        self._recorder = recorder
        self._keep_grads = keep_grads
        self._replaced = replaced
        self._links = targets.links()
        self._parameters = targets.parameters()
        self._rules = rules_of(self._parameters)
        self._optimizers = targets.optimizers()
        self._carried: list[tuple[Slot, Any, Any]] = []
        self._state: list[tuple[Slot, Any, Any]] = []

    def run(self, structure: Any, found: list[Any], reporter: Reporter | None) -> Any:
        """Runs the step.

        Args:
            structure: The arguments, a pair of a tuple and a dict with leaves.
            found: Arrays and Variables of the arguments.
            reporter: The current reporter.

        Returns:
            The result of the step. All state is as the step leaves it.

        Raises:
            NotRecordableError: If the step cannot be recorded. The state may then be half changed.
        """
        recorder = self._recorder
        placeholders = [recorder.argument(x.array if isinstance(x, Variable) else x) for x in found]

        def argument(leaf: Leaf) -> Any:
            array = placeholders[leaf.index]
            if leaf.kind is None:
                return array
            return Variable(array, requires_grad=leaf.kind)

        before = self._snapshot_of_values()
        observation = {} if reporter is None else dict(reporter.observation)
        self._exchange_arrays()
        args, kwargs = unflatten(structure, argument)
        numbers = self._numbers = RecordedScalars(recorder)
        state = threads.state
        with numbers:
            state.recorder = recorder
            try:
                result = recorder.run(lambda: self._function(*args, **kwargs))
            finally:
                state.recorder = None
        return self._finish(result, before, observation, reporter)

    def recording(self) -> Recording:
        """Returns the recording of the run; to be called once, after :meth:`run`.

        Raises:
            NotRecordableError: If there can be no program. The state stays as the step left it.
        """
        recorder, recording, outputs = self._recorder, self._recording, self._outputs
        recording.program = recorder.program(outputs)
        self._follow_moved(recorder)
        recording.guards = self._guards()
        return recording

    # -- before -----------------------------------------------------------------------------------

    def _snapshot_of_values(self) -> dict[tuple[int, str], Any]:
        """Returns the plain values, and the identities of other objects, before the run."""
        self._values = python_state(self._links, self._optimizers, self._rules)
        return {
            (id(link), name): id(value)
            for link in self._links
            for name, value in vars(link).items()
            if not isinstance(value, (*SIMPLE, Variable)) and not is_array(value)
        }

    def _exchange_arrays(self) -> None:
        """Puts arrays of the recorder in place of those of parameters, links and rules."""
        recorder = self._recorder
        self._arrays = [p._array for p in self._parameters]
        self._gradients = [p.grad for p in self._parameters]
        self._taped_gradients: list[Any] = []
        for parameter, array in zip(self._parameters, self._arrays, strict=True):
            if array is None:
                raise NotRecordableError(f"parameter {parameter.name!r} is not initialized")
            parameter._array = recorder.state(array)
        self._taped = [p._array for p in self._parameters]
        for parameter, grad in zip(self._parameters, self._gradients, strict=True):
            taped = None if grad is None else recorder.state(grad)
            parameter._gradient = taped
            self._taped_gradients.append(taped)
        for slot in list(variable_slots(self._links)):
            variable = slot.get()
            if variable.array is None:
                continue
            taped = Variable(recorder.argument(variable.array), name=variable.name)
            slot.set(taped)
            self._carried.append((slot, variable, taped))
        for slot in list(array_slots(self._links, self._rules)):
            array = slot.get()
            if (id(slot.members), slot.name) in self._replaced:
                taped = recorder.argument(array)
                self._carried.append((slot, array, taped))
            else:
                taped = recorder.state(array)
                self._state.append((slot, array, taped))
            slot.set(taped)

    # -- after ------------------------------------------------------------------------------------

    def _finish(
        self,
        result: Any,
        before: dict[tuple[int, str], Any],
        observation: dict[str, Any],
        reporter: Reporter | None,
    ) -> Any:
        recorder = self._recorder
        self._check_arrays()
        outputs: list[Any] = []
        found: list[Any] = []
        structure = flatten(result, found)
        recording = self._recording = Recording(_NO_PROGRAM, _NO_GUARDS, structure)
        for i, x in enumerate(found):
            array = x.array if isinstance(x, Variable) else x
            if recorder.is_recorded(array):
                outputs.append(array)
                recording.places.append(i)
                recording.kinds.append(isinstance(x, Variable))
            else:
                recording.constants[i] = array
        self._refuse_numbers(result)
        self._store_attributes(recording, outputs, before)
        self._store_reports(recording, outputs, observation, reporter)
        self._store_gradients(recording, outputs)
        self._count(recording)
        carried = [slot for slot, _, _ in self._carried]
        recording.carried = carried
        self._outputs = outputs
        # Those of the call before; the program needs memory for new ones.
        self._gradients, self._taped_gradients = [], []
        plain = [
            Variable(recorder.plain(x.array), requires_grad=False)
            if isinstance(x, Variable)
            else recorder.plain(x)
            for x in found
        ]
        return unflatten(structure, lambda leaf: plain[leaf.index])

    def _check_arrays(self) -> None:
        """Puts the arrays back that were changed in place; finds those that were replaced."""
        for parameter, array, taped in zip(
            self._parameters, self._arrays, self._taped, strict=True
        ):
            if parameter._array is not taped:
                raise NotRecordableError(f"the step replaces parameter {parameter.name!r}")
            parameter._array = array
        replaced: set[tuple[int, str]] = set()
        for slot, array, taped in self._state:
            if slot.get() is taped:
                slot.set(array)
            else:
                replaced.add((id(slot.members), slot.name))
        if replaced:
            raise ReplacedArrayError(replaced)

    def _refuse_numbers(self, value: Any) -> None:
        """Refuses numbers as results: each call would return that of the recording."""
        if isinstance(value, (bool, str, bytes, type(None))):
            return
        if isinstance(value, (tuple, list)):
            for v in value:
                self._refuse_numbers(v)
        elif isinstance(value, dict):
            for v in value.values():
                self._refuse_numbers(v)
        elif isinstance(value, (int, float)):
            raise NotRecordableError(
                f"the step returns the Python number {value!r}; return an array or a Variable"
            )

    def _store_attributes(
        self, recording: Recording, outputs: list[Any], before: dict[tuple[int, str], Any]
    ) -> None:
        recorder = self._recorder
        unchanged = self._restore_carried()
        for link in self._links:
            members = vars(link)
            for name, value in list(members.items()):
                array = value.array if isinstance(value, Variable) else value
                slot = Slot(type(link).__name__, members, name)
                if (id(members), name) in unchanged or name.startswith("_Link"):
                    continue
                if recorder.is_recorded(array):
                    is_variable = isinstance(value, Variable)
                    outputs.append(array)
                    recording.stored.append((slot, is_variable))
                    plain = recorder.plain(array)
                    slot.set(Variable(plain) if is_variable else plain)
                elif (
                    not isinstance(value, (*SIMPLE, Variable))
                    and not is_array(value)
                    and before.get((id(link), name), id(value)) != id(value)
                ):
                    raise NotRecordableError(f"the step changes {slot}")

    def _restore_carried(self) -> set[tuple[int, str]]:
        """Puts back the attributes that the step did not change; returns their places."""
        unchanged: set[tuple[int, str]] = set()
        for slot, value, taped in self._carried:
            if slot.get() is taped:
                slot.set(value)
                unchanged.add((id(slot.members), slot.name))
        # What the step only writes need not be passed on.
        self._carried = [
            (slot, value, taped)
            for slot, value, taped in self._carried
            if not self._recorder.forget(taped.array if isinstance(taped, Variable) else taped)
        ]
        return unchanged

    def _store_reports(
        self,
        recording: Recording,
        outputs: list[Any],
        observation: dict[str, Any],
        reporter: Reporter | None,
    ) -> None:
        for key, value in ({} if reporter is None else reporter.observation).items():
            if observation.get(key) is value:
                continue
            is_variable = isinstance(value, Variable)
            array = value.array if is_variable else value
            if not self._recorder.is_recorded(array):
                raise NotRecordableError(
                    f"the reported value {key!r} is not an array that the step computes"
                )
            outputs.append(array)
            recording.reports.append((key, is_variable))
            assert reporter is not None
            plain = self._recorder.plain(array)
            reporter.observation[key] = (
                Variable(plain, requires_grad=False) if is_variable else plain
            )

    def _store_gradients(self, recording: Recording, outputs: list[Any]) -> None:
        recorder = self._recorder
        read: dict[str, Any] = {}
        for parameter, grad, taped in zip(
            self._parameters, self._gradients, self._taped_gradients, strict=True
        ):
            now = parameter.grad
            if taped is not None and recorder.reads(taped):
                read[str(parameter.name)] = taped
            if now is taped:
                parameter._gradient = grad
            elif now is None or not (self._keep_grads or self._is_left(parameter)):
                parameter._gradient = None
                recording.cleared.append(parameter)
            else:
                outputs.append(now)
                recording.gradients.append(parameter)
                parameter._gradient = recorder.plain(now)
        # Steps of two models, such as adversaries, add to gradients that they clear before use.
        if read and recorder.depends_on(list(read.values()), outputs):
            raise NotRecordableError(
                f"gradients are added to those of the call before (parameters "
                f"{', '.join(sorted(read))}): call cleargrads() within the step"
            )

    def _is_left(self, parameter: Parameter) -> bool:
        """Returns whether the step leaves the gradient of a parameter to an update after it."""
        rule = parameter.update_rule
        if rule is None:
            return True
        _, old = self._values.get((id(rule), "t"), (None, None))
        return rule.enabled and rule.t == old

    def _count(self, recording: Recording) -> None:
        """Finds the numbers of optimizers and rules that grew; refuses other changes."""
        after = python_state(self._links, self._optimizers, self._rules)
        owners = {id(owner) for owner in (*self._optimizers, *self._rules)}
        # Values that became arrays, such as the state None of an LSTM.
        self._constant_values = [
            (slot, old) for key, (slot, old) in self._values.items() if key not in after
        ]
        for key, (slot, value) in after.items():
            old = self._values[key][1] if key in self._values else None
            if key[0] in owners and key[1] == "t" and value == old:
                continue  # counts of updates, which other steps make
            if _is_same(value, old):
                self._constant_values.append((slot, value))
            elif key[0] in owners and type(value) is int and type(old) is int and value > old:
                recording.counters.append((slot.members, slot.name, value - old))
            else:
                raise NotRecordableError(f"the step changes {slot} from {old!r} to {value!r}")

    def _follow_moved(self, recorder: Recorder) -> None:
        """Puts the arrays in their places that the program uses in place of others."""
        moved = {id(old): new for old, new in recorder.moved()}
        for index, (slot, array, taped) in enumerate(self._state):
            if id(array) in moved:
                new = moved[id(array)]
                slot.set(new)
                self._state[index] = slot, new, taped

    def _guards(self) -> Guards:
        objects = [(slot.members, slot.name, array) for slot, array, _ in self._state]
        of_links, values = watched_attributes(self._links)
        # Settings of optimizers are compared only after a change, see OptimizerSettings.
        owners = [vars(owner) for owner in (*self._optimizers, *self._rules)]
        told = {*map(id, owners)}
        values += [pair for pair in self._constant_values if id(pair[0].members) not in told]
        sizes = [(vars(link), len(vars(link))) for link in self._links]
        carried = [
            (slot, _signature_of(value), isinstance(value, Variable))
            for slot, value, _ in self._carried
        ]
        parameters = watched_parameters(self._parameters, [p._array for p in self._parameters])
        return Guards(
            Places([*objects, *of_links], values, sizes), parameters, carried, self._settings(told)
        )

    def _settings(self, told: set[int]) -> OptimizerSettings:
        optimizers, rules = self._optimizers, self._rules
        objects: list[tuple[dict[str, Any], str, Any]] = []
        values = [pair for pair in self._constant_values if id(pair[0].members) in told]
        sizes: list[tuple[Any, int]] = []
        # A rule with an update of its own may read any hyperparameter.
        may_vary = all([rule.is_grouped for rule in rules])
        for owner in (*optimizers, *rules):
            members = vars(owner)
            objects += [(members, n, members[n]) for n in _REPLACEABLE if n in members]
            hyperparam = members.get("hyperparam")
            if hyperparam is not None:
                entries = vars(hyperparam)
                values += _fixed_hyperparameters(type(owner).__name__, hyperparam, may_vary)
                # A rule that gets hyperparameters of its own no longer shares its numbers.
                sizes.append((entries, len(entries)))
        return OptimizerSettings(
            Places(objects, values, sizes),
            self._numbers.groups(),
            lambda: hook_settings(optimizers, rules),
        )


#: Attributes of optimizers and rules that hold what a program reads and writes.
_REPLACEABLE = ("target", "hyperparam", "_state")


def _fixed_hyperparameters(
    owner: str, hyperparam: Hyperparameter, may_vary: bool
) -> Iterator[tuple[Slot, Any]]:
    """Yields the hyperparameters that are part of a program."""
    members = vars(hyperparam)
    for name, value in members.items():
        if name != "_parent" and not (may_vary and hyperparam.varies(name)):
            yield Slot(owner, members, name), value


def _is_same(value: Any, old: Any) -> bool:
    """Returns whether a value has not changed; NaN, which equals nothing, has not."""
    return value is old or value == old or value != value


def _signature_of(value: Any) -> Any:
    array = value.array if isinstance(value, Variable) else value
    return array.shape, array.dtype


_NO_PROGRAM: Any = None
_NO_GUARDS: Any = None
