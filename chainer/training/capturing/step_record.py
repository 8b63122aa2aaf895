"""The record of a whole step: its program, and what it does to Python objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, cast

from chainer.core.arrays.backend import is_array
from chainer.core.arrays.recorder import NotRecordableError, Program, Recorder
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.misuse import level_outside
from chainer.core.reporting.reporter import Reporter
from chainer.core.typing import Array, VariableLike
from chainer.training.capturing.comparison import Values
from chainer.training.capturing.guards import Guards
from chainer.training.capturing.machine import Record
from chainer.training.capturing.recorders import recorded
from chainer.training.capturing.state import (
    MISSING,
    PLAIN,
    Key,
    Kind,
    Role,
    Slot,
    StateTree,
    array_of,
)
from chainer.training.capturing.structure import Structure, flatten, leaves_of, unflatten
from chainer.training.capturing.substitution import Substitution
from chainer.training.optimizers.half_updates import has_ended_midway, remember, tell
from chainer.training.optimizers.optimizer import Optimizer
from chainer.training.optimizers.recorded_scalars import RecordedScalars
from chainer.training.optimizers.updates import HeldSignals


class CapturedVariable(Variable):
    """A result of a captured step. It has a value, but no graph to differentiate."""

    __slots__ = ()

    def __init__(self, array: Array) -> None:
        # As Variable() does for an array that is known to be one, in half of the time.
        self._array = array
        self._gradient = None
        self._grad_var = None
        self._graph_node = None
        self._requires_grad = False

    def backward(self, *args: object, **kwargs: object) -> NoReturn:
        """Raises an error: without it, nothing would happen silently.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(
            "a result of a captured step has no graph, so that backward() can compute nothing; "
            "call backward() within the step, or do not capture it"
        )


class StepRecord(Record):
    """A program, and how to call it in place of the step.

    Attributes:
        program: The array work.
        structure: Structure of the result.
        constants: Arrays of the result that do not depend on the arguments, by number.
        repeated: Numbers of results that are the same object as an earlier one, and its number.
        carried: Slots whose arrays pass from call to call; they follow the arguments.
        stored: Slots that get an output each, and whether as a Variable.
        reports: Keys of reported values that get an output each, and whether as a Variable.
        gradients: Parameters that get an output as gradient.
        cleared: Parameters whose gradients are None afterwards.
        counters: Slots of numbers that grow, and by how much.
        optimizers: Optimizers whose updates the step makes.
    """

    program: Program

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self._are_variables = [leaf[1] is not None for leaf in leaves_of(structure)]
        self._is_single = len(structure) == 4
        self.constants: dict[int, Array] = {}
        self.repeated: dict[int, int] = {}
        self.carried: list[Slot] = []
        self.stored: list[tuple[Slot, bool]] = []
        self.reports: list[tuple[str, bool]] = []
        self.gradients: list[Parameter] = []
        self.cleared: list[Parameter] = []
        self.counters: list[tuple[dict[str, Any], str, int]] = []
        self.optimizers: list[Optimizer] = []
        self._computes_one = False

    def complete(self, takes_arrays: bool) -> None:
        """Notes that all is known; called once.

        Args:
            takes_arrays: Whether no argument is a Variable.
        """
        effects = (self.carried, self.stored, self.reports, self.gradients, self.cleared)
        is_pure = not any(effects) and not self.counters and not self.constants
        self._computes_one = takes_arrays and is_pure and self._is_single and self._are_variables[0]

    def __call__(self, found: Sequence[VariableLike], reporter: Reporter | None) -> Any:
        """Does what the step would do.

        Args:
            found: Arrays and Variables of the arguments.
            reporter: The current reporter.
        """
        if self._computes_one:  # most often, as of derivatives: no effects, arrays as arguments
            (y,) = self.program(found)  # type: ignore[arg-type]
            return CapturedVariable(y)
        arguments = [x.array if isinstance(x, Variable) else x for x in found]
        arguments += [array_of(slot.get()) for slot in self.carried]
        if not self.counters:  # without an update
            return self._run(arguments, reporter)
        for optimizer in self.optimizers:
            if has_ended_midway(optimizer):
                tell(optimizer, level_outside("chainer.training.capturing"))
        # As in an update that is written: it is completed, or the optimizers know.
        held = HeldSignals()
        previous = held.hold()
        try:
            for members, name, step in self.counters:
                members[name] += step
            self.guards.expect_counts()
            return self._run(arguments, reporter)
        except BaseException as error:
            for optimizer in self.optimizers:
                remember(optimizer, optimizer.target.params() if optimizer.target else (), error)
            raise
        finally:
            held.release(previous)

    def _run(self, arguments: list[Array], reporter: Reporter | None) -> Any:
        """Runs the program and puts its outputs in their places."""
        outputs = iter(self.program(arguments))
        if self._is_single and not self.constants:  # the usual case: a loss
            y = next(outputs)
            result = y if self.structure[1] is None else CapturedVariable(y)
            if self.stored or self.reports or self.cleared or self.gradients:
                self._follow(outputs, reporter)
            return result
        leaves: list[VariableLike] = []
        for i, is_variable in enumerate(self._are_variables):
            if i in self.repeated:
                leaves.append(leaves[self.repeated[i]])
                continue
            y = self.constants[i].copy() if i in self.constants else next(outputs)
            leaves.append(CapturedVariable(y) if is_variable else y)
        self._follow(outputs, reporter)
        return unflatten(self.structure, iter(leaves))

    def _follow(self, outputs: Iterator[Array], reporter: Reporter | None) -> None:
        """Puts the outputs that follow the results in their places."""
        for slot, is_variable in self.stored:
            y = next(outputs)
            slot.set(Variable(y) if is_variable else y)
        if reporter is not None:
            for key, is_variable in self.reports:
                y = next(outputs)
                reporter.observation[key] = CapturedVariable(y) if is_variable else y
        for parameter in self.cleared:
            parameter._gradient = None
        for parameter in self.gradients:
            parameter.grad = next(outputs)


class ReplacedArrayError(Exception):
    """The step replaces arrays that were taken for ones that it changes in place."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        super().__init__(f"{len(slots)} arrays were replaced")
        self.keys = {slot.key for slot in slots}


class StepRecording:
    """One run of a step with a recorder.

    Args:
        tree: What the step may change.
        recorder: The recorder.
        keep_grads: Whether gradients of parameters are results.
        replaced: Keys of slots whose arrays the step replaces.
    """

    def __init__(
        self, tree: StateTree, recorder: Recorder, keep_grads: bool, replaced: set[Key]
    ) -> None:
        self._tree, self._recorder, self._keep_grads = tree, recorder, keep_grads
        self._substitution = Substitution(tree, recorder, replaced)
        self._outputs: list[Array] = []
        self._changed: set[Key] = set()
        self._refusal: str | None = None

    def run(
        self,
        function: Callable[..., object],
        structure: Structure,
        found: Sequence[VariableLike],
        reporter: Reporter | None,
    ) -> Any:
        """Runs the step.

        Args:
            function: The step.
            structure: The arguments, a pair of a tuple and a dict.
            found: Arrays and Variables of the arguments.
            reporter: The current reporter.

        Returns:
            The result of the step. All state is as the step leaves it.

        Raises:
            NotRecordableError: If the step cannot be recorded. The state may then be half changed.
            ReplacedArrayError: If another attempt has to carry more slots.
        """
        recorder = self._recorder
        self._takes_arrays = not any([isinstance(x, Variable) for x in found])
        arguments: list[VariableLike] = []
        for x in found:
            array = recorder.argument(array_of(x))
            if isinstance(x, Variable):
                array = Variable(array, requires_grad=x.requires_grad)
            arguments.append(array)
        observation = {} if reporter is None else dict(reporter.observation)
        outside = [s for s in self._tree.of_kind(Kind.ARRAY) if s.owner.role is Role.SURROUNDINGS]
        values = [Values.of(slot.value, True) for slot in outside]
        self._substitution.enter(with_gradients=True)
        args, kwargs = unflatten(structure, iter(arguments))
        self._numbers = RecordedScalars(recorder)
        with self._numbers:
            result = recorded(recorder, lambda: function(*args, **kwargs))
        for slot, before in zip(outside, values, strict=True):
            if Values.of(slot.value, True) != before:
                # The step has run, and is not run again: its array has no copy.
                self._refusal = f"the step changes the array {slot} in place"
        return self._finish(result, observation, reporter)

    def record(self) -> StepRecord:
        """Returns the record of the run; to be called once, after :meth:`run`.

        Raises:
            NotRecordableError: If there can be no program. The state stays as the step left it.
        """
        if self._refusal is not None:
            raise NotRecordableError(self._refusal)
        record = self._record
        record.program = self._recorder.program(self._outputs)
        record.is_exact = record.program.is_exact
        # The program may keep states in other arrays.
        moved = {id(old): new for old, new in self._recorder.moved()}
        for slot in self._tree.of_kind(Kind.ARRAY):
            if id(slot.value) in moved:
                slot.value = moved[id(slot.value)]
                slot.set(slot.value)
        groups = self._numbers.groups()
        record.optimizers = self._tree.optimizers
        record.guards = Guards(self._tree, self._changed, record.carried, groups)
        record.complete(self._takes_arrays)
        return record

    def _finish(
        self, result: object, observation: dict[str, object], reporter: Reporter | None
    ) -> Any:
        """Finds the effects of the run, and puts ordinary arrays in all places."""
        recorder = self._recorder
        replaced = self._substitution.leave()
        if any([slot.kind is Kind.DATA for slot in replaced]):
            raise NotRecordableError(f"the step replaces {replaced[0].owner.label}")
        if replaced:
            raise ReplacedArrayError(replaced)
        found: list[VariableLike] = []
        structure = flatten(result, found)
        self._record = record = StepRecord(structure)
        for i, x in enumerate(found):
            array = array_of(x)
            first = next(j for j, other in enumerate(found) if other is x)
            if first < i:
                record.repeated[i] = first
            elif recorder.is_recorded(array):
                self._outputs.append(array)
            else:
                record.constants[i] = array
        _refuse_numbers(result)
        # What the step only writes need not be passed on.
        record.carried = [
            slot for slot, x in self._substitution.carried if not recorder.forget(array_of(x))
        ]
        self._store_changes(record)
        self._store_reports(record, observation, reporter)
        self._store_gradients(record)
        plain: list[VariableLike] = []
        for i, x in enumerate(found):
            if i in record.repeated:
                plain.append(plain[record.repeated[i]])
            else:
                array = recorder.plain(array_of(x))
                plain.append(CapturedVariable(array) if isinstance(x, Variable) else array)
        return unflatten(structure, iter(plain))

    def _store(self, array: Array, is_variable: bool) -> VariableLike:
        """Makes an array an output; returns an ordinary one with its values."""
        self._outputs.append(array)
        plain = self._recorder.plain(array)
        return Variable(plain) if is_variable else plain

    def _store_changes(self, record: StepRecord) -> None:
        """Makes changed slots effects of the record; refuses changes that it cannot repeat."""
        recorder = self._recorder
        for slot, old, new in self._tree.changes(self._tree.again()):
            role, array = slot.owner.role, array_of(new)
            if role is Role.PARAMETER and slot.kind is Kind.GRADIENT:
                continue  # see _store_gradients
            self._changed.add(slot.key)
            if role is Role.STATE and old is MISSING:
                raise NotRecordableError(f"the step makes {slot}")
            if role in (Role.LINK, Role.STATE) and recorder.is_recorded(array):
                if isinstance(old, PLAIN):
                    # Such as the state None of an LSTM, which each repetition has to find.
                    self._changed.discard(slot.key)
                is_variable = isinstance(new, Variable)
                slot.set(self._store(array, is_variable))
                slot.value = None  # an array of the recording
                record.stored.append((slot, is_variable))
            elif role in (Role.OPTIMIZER, Role.RULE) and _grows(old, new):
                step = cast(int, new) - cast(int, old)
                record.counters.append((slot.owner.members, slot.name, step))
            elif not (role is Role.LINK and is_array(array)):  # else the comparison will tell
                raise NotRecordableError(_refusal(slot, old, new, recorder))

    def _store_reports(
        self, record: StepRecord, observation: dict[str, object], reporter: Reporter | None
    ) -> None:
        for key, value in ({} if reporter is None else reporter.observation).items():
            if observation.get(key) is value:
                continue
            array = array_of(value)
            if not self._recorder.is_recorded(array):
                raise NotRecordableError(
                    f"the reported value {key!r} is not an array that the step computes"
                )
            is_variable = isinstance(value, Variable)
            record.reports.append((key, is_variable))
            plain = self._store(array, False)
            assert reporter is not None
            reporter.observation[key] = CapturedVariable(plain) if is_variable else plain

    def _store_gradients(self, record: StepRecord) -> None:
        recorder = self._recorder
        read: dict[str, Array] = {}
        for p, grad, substitute in self._substitution.gradients:
            now = p.grad
            if substitute is not None and recorder.reads(substitute):
                read[str(p.name)] = substitute
            if now is substitute:
                p._gradient = grad
            elif now is None or not (self._keep_grads or self._is_left(p)):
                p._gradient = None
                record.cleared.append(p)
            else:
                record.gradients.append(p)
                p._gradient = self._store(now, False)
        # The program needs memory for new ones.
        self._substitution.gradients.clear()
        # Steps of two models, such as adversaries, add to gradients that they clear before use.
        if read and recorder.depends_on(list(read.values()), self._outputs):
            raise NotRecordableError(
                f"gradients are added to those of the call before (parameters "
                f"{', '.join(sorted(read))}): call cleargrads() within the step"
            )

    def _is_left(self, parameter: Parameter) -> bool:
        """Returns whether the step leaves the gradient of a parameter to an update after it."""
        rule = parameter.update_rule
        if rule is None:
            return True
        before = self._tree.slots.get((id(vars(rule)), "t"))
        return rule.enabled and before is not None and rule.t == before.value


def _grows(old: object, new: object) -> bool:
    return type(old) is int and type(new) is int and new > old


def kept_array(description: str) -> str:
    """Returns why a step is refused that keeps an array."""
    return (
        f"it keeps an array ({description}) where only the step as written changes it, as in a "
        "list or an object that is not a target; return the array instead"
    )


def _refusal(slot: Slot, old: object, new: object, recorder: Recorder) -> str:
    """Returns why a step that changes a slot is refused."""
    values = new.values() if isinstance(new, dict) else new
    is_container = isinstance(new, (list, tuple, dict, set))
    for part in cast("list[object]", values) if is_container else [new]:
        array = array_of(part)
        if recorder.is_recorded(array):
            plain = recorder.plain(array)
            return kept_array(f"{plain.dtype}{list(plain.shape)}")
    if slot.owner.role is Role.SURROUNDINGS:
        return (
            f"the step changes {slot}; the effect of a repetition differs from that of the step as "
            "written"
        )
    if is_array(new) or not (isinstance(old, PLAIN) and isinstance(new, PLAIN)):
        return f"the step changes {slot}"
    return f"the step changes {slot} from {old!r} to {new!r}"


def _refuse_numbers(value: object) -> None:
    """Refuses numbers as results: each call would return the number of the recording."""
    if isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            _refuse_numbers(part)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        raise NotRecordableError(
            f"the step returns the Python number {value!r}; return an array or a Variable"
        )
