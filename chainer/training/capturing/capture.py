"""``chainer.capture``: a step that is recorded once and repeated at the speed of compiled code."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import Any, Literal, cast

import numpy

from chainer.core.arguments import wrong_type
from chainer.core.arrays.recorder import NotRecordableError
from chainer.core.autograd.variable import Variable
from chainer.core.misuse import level_outside
from chainer.core.reporting.reporter import Reporter
from chainer.core.typing import FilePath, HostArray, VariableLike
from chainer.training.capturing.circumstances import (
    configuration,
    current_reporter,
    runs_as_written,
)
from chainer.training.capturing.comparison import Found, difference, values_of
from chainer.training.capturing.machine import Call, Machine
from chainer.training.capturing.pace import Pace
from chainer.training.capturing.recorders import common_backend, recorder_of
from chainer.training.capturing.snapshot import Snapshot
from chainer.training.capturing.state import Key, StateTree
from chainer.training.capturing.step_file import save_step
from chainer.training.capturing.step_record import (
    ReplacedArrayError,
    StepRecord,
    StepRecording,
    kept_array,
)
from chainer.training.capturing.structure import (
    NotSupportedError,
    Structure,
    flatten,
    leaves_of,
)
from chainer.training.capturing.surroundings import tree_of
from chainer.training.optimizers.update_rule import UpdateRule

#: Programs of one step. A step that needs more has, for example, batches of ever other lengths.
LARGEST_NUMBER_OF_PROGRAMS = 8

_ADVICE = "programs, for as many shapes of arguments or settings. Pad batches to a few shapes"

_ndarray = numpy.ndarray

#: What :func:`flatten` returns for a call without keyword arguments.
_NO_OPTIONS: Structure = (dict, ())

#: Attempts to record a step; each finds more arrays that the step replaces.
_ATTEMPTS = 3


class CaptureError(RuntimeError):
    """A step cannot be captured, and ``on_failure='error'`` asks for an error."""


_layout = attrgetter("__class__", "dtype", "shape")


class _Last:
    """The last call that was repeated, if its arguments were arrays: most often the next is alike.

    Attributes:
        key: What tells calls apart, as the machine does.
    """

    __slots__ = ("_has_none", "_layouts", "_settings", "key")

    def __init__(self, args: Sequence[HostArray], key: tuple[Structure, Hashable, bool]) -> None:
        self.key = key
        _, self._settings, self._has_none = key
        self._layouts = list(map(_layout, args))

    def fits(self, args: Sequence[Any], settings: Hashable, reporter: Reporter | None) -> bool:
        """Returns whether a call has the same key; False if that is not known."""
        if settings is not self._settings or (reporter is None) is not self._has_none:
            return False
        try:
            return list(map(_layout, args)) == self._layouts
        except AttributeError:
            return False  # an argument of another kind


class CapturedStep:
    """A function whose calls are recorded and repeated; made by :func:`capture`.

    See :mod:`chainer.training.capturing.machine` for the life of a record.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        targets: Sequence[object],
        keep_grads: bool,
        audit: int,
        on_failure: Literal["eager", "error"],
    ) -> None:
        StateTree.of(targets)  # raises an error for a wrong target now
        self.function, self.targets = function, targets
        self.keep_grads, self._audit, self._on_failure = keep_grads, audit, on_failure
        self.replaced: set[Key] = set()
        self._last: _Last | None = None
        self._seen: weakref.WeakSet[UpdateRule] = weakref.WeakSet()
        self._machine: Machine[StepRecord] = Machine(
            self._refused, LARGEST_NUMBER_OF_PROGRAMS, audit=audit, advice=_ADVICE
        )
        functools.update_wrapper(self, function, updated=())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {_name_of(self.function)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, or what was recorded of it."""
        machine = self._machine
        if machine.reason is not None or runs_as_written():
            return self.function(*args, **kwargs)
        reporter, settings = current_reporter(), configuration()
        last = self._last
        if last is not None and not kwargs and last.fits(args, settings, reporter):
            with machine.lock:
                record = machine.ready(last.key)
                if record is not None:
                    return record(args, reporter)
        found: list[VariableLike] = []
        try:
            arguments = tuple, tuple([flatten(x, found) for x in args])
            structure = tuple, (arguments, flatten(kwargs, found) if kwargs else _NO_OPTIONS)
        except NotSupportedError as error:
            machine.refuse(f"an argument: {error}")
            return self.function(*args, **kwargs)
        key = structure, settings, reporter is None
        with machine.lock:
            record = machine.ready(key)
            if record is not None:
                are_arrays = all([x.__class__ is _ndarray for x in args])
                self._last = _Last(args, key) if are_arrays and not kwargs else None
                return record(found, reporter)
        return machine.run(key, _StepCall(self, args, kwargs, structure, found, reporter))

    def is_prepared(self) -> bool:
        """See :meth:`Call.is_prepared`."""
        # The first update of a new parameter makes its states.
        rules = StateTree.of(self.targets).rules
        is_known = all([rule in self._seen for rule in rules])
        self._seen.update(rules)
        return is_known and not self.has_hooks()

    def _refused(self, reason: str) -> None:
        if self._on_failure == "error":
            raise CaptureError(f"{_name_of(self.function)} cannot be captured: {reason}")
        # The program cannot help it if a backend has no recorder.
        if not reason.endswith("cannot record"):
            warnings.warn(
                f"{_name_of(self.function)} cannot be captured, and runs as it is written: "
                f"{reason}",
                UserWarning,
                stacklevel=level_outside("chainer.training.capturing"),
            )

    def has_hooks(self) -> bool:
        """Returns whether a link has hooks of its own, which have to see each call."""
        return any([link._local_link_hooks for link in StateTree.of(self.targets).links])

    # -- what users ask ---------------------------------------------------------------------------

    def explain(self) -> str:
        """Returns what is recorded: programs, what they carry, or why there are none."""
        machine = self._machine
        lines = [f"captured step {_name_of(self.function)}"]
        if machine.reason is not None:
            return "\n".join([*lines, f"  runs as it is written: {machine.reason}"])
        if self.has_hooks():
            lines.append("  runs as it is written while links have hooks of their own")
        for number, (key, entry) in enumerate(machine.entries.items(), 1):
            structure, *_ = cast("tuple[Structure, ...]", key)
            shapes = [f"{dtype}{list(shape)}" for _, _, dtype, shape in leaves_of(structure)]
            lines.append(f"  signature {number}: {', '.join(shapes) or 'no arrays'}")
            if not entry.records:
                lines.append(f"    not recorded yet ({entry.calls} calls)")
            if entry.slower is not None:
                lines.append(f"    runs as it is written, which is faster: {entry.slower}")
            for record in entry.records:
                state = "in use" if record.is_verified else "to be compared at the next call"
                if entry.slower is not None:
                    state = "not in use"
                lines.append(f"    program: {record.program.description}, {state}")
                lines += [f"    carried from call to call: {slot}" for slot in record.carried]
                if record.counters:
                    names = sorted({name for _, name, _ in record.counters})
                    lines.append(f"    numbers that grow: {', '.join(names)}")
                if record.reports:
                    lines.append(f"    reports: {', '.join([k for k, _ in record.reports])}")
        if machine.last_change is not None:
            lines.append(f"  last recorded anew because {machine.last_change}")
        return "\n".join(lines)

    def save(self, path: FilePath, player: bool = False) -> None:
        """Writes a file that repeats the step without its code; see :func:`chainer.load_step`.

        It holds the programs that would run now, for all shapes of arguments that were recorded in
        the present configuration. NumPy alone has such programs.

        Args:
            path: The file, an npz archive. It is replaced when the new one is complete.
            player (bool): Whether ``chainer_step_player.py`` is copied beside it, which runs the
                file where NumPy is installed and Chainer is not:
                ``python chainer_step_player.py step.npz batch.npz --steps 100``.

        Raises:
            CaptureError: If nothing is recorded yet, or the file cannot hold the step: the message
                says why.
        """
        machine, name = self._machine, _name_of(self.function)
        with machine.lock:
            reason = machine.reason
            found: dict[Structure, StepRecord] = {}
            has_none = current_reporter() is None
            # Of two programs for the same arguments, the one for the present reporter is saved.
            keys = sorted(machine.entries, key=lambda key: cast(Any, key)[2] is not has_none)
            for key in keys:
                structure, settings, _ = cast("tuple[Any, ...]", key)
                for record in machine.entries[key].records if settings == configuration() else ():
                    if record.is_verified and record.guards.hold():
                        found.setdefault(structure, record)
            if not found:
                reason = reason or "there is no program that would run now; call the step 3 times"
                raise CaptureError(f"{name} cannot be saved: {reason}")
            try:
                tree = tree_of(self.function, self.targets)
                save_step(path, tree, list(self.targets), list(found.items()), player)
            except NotRecordableError as error:
                raise CaptureError(f"{name} cannot be saved: {error}") from error


class _StepCall(Call[StepRecord]):
    """One call of a captured step."""

    __slots__ = ("args", "found", "kwargs", "reporter", "step", "structure")

    def __init__(
        self,
        step: CapturedStep,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        structure: Structure,
        found: list[VariableLike],
        reporter: Reporter | None,
    ) -> None:
        self.step, self.args, self.kwargs = step, args, kwargs
        self.structure, self.found, self.reporter = structure, found, reporter

    def written(self) -> Any:
        return self.step.function(*self.args, **self.kwargs)

    def is_prepared(self) -> bool:
        return self.step.is_prepared()

    def record(self) -> tuple[Any, StepRecord | str]:
        step = self.step
        tree = tree_of(step.function, step.targets)
        for x in self.found:
            if isinstance(x, Variable) and x.creator_node is not None:
                raise NotRecordableError("an argument is part of a graph that begins outside of it")
        backend = common_backend(self.found, tree)
        # Before the snapshot, which refers to all arrays.
        owned = tree.unshared_states()
        before = Snapshot(tree, self.reporter)
        for _ in range(_ATTEMPTS):
            recorder = recorder_of(backend)
            for state in owned:
                recorder.own(state)
            attempt = StepRecording(tree, recorder, step.keep_grads, step.replaced)
            try:
                result = attempt.run(step.function, self.structure, self.found, self.reporter)
                break
            except ReplacedArrayError as error:
                before.restore()
                step.replaced |= error.keys
            except BaseException:
                before.restore()
                raise
        else:
            raise NotRecordableError("it replaces other arrays at each call")
        # Only until the step has run: the program then needs the memory.
        del before, owned
        # The step has run, so that its result is returned even if it cannot be recorded.
        try:
            record = attempt.record()
        except NotRecordableError as error:
            return result, str(error)
        except Exception as error:
            return result, f"{type(error).__name__}: {error}"
        # Nothing but places that repetitions do not change may refer to the recording now.
        del attempt, tree
        kept = recorder.kept()
        return result, record if kept is None else kept_array(kept)

    def compare(self, record: StepRecord) -> tuple[str | None, Any]:
        results: list[Any] = []
        is_exact = record.is_exact

        def found(result: Any) -> Found:
            arrays: list[VariableLike] = []
            flatten(result, arrays)
            gradients = [p._grad for p in record.gradients]
            values = values_of("result", arrays, is_exact)
            return values | values_of("gradient", gradients, is_exact)

        # A user who wants an error if the code runs wants the record, even if it is slower.
        wants_record = self.step._on_failure == "error" or self.step._audit > 0
        pace = Pace() if is_exact and not wants_record else None

        def write() -> Found:
            results.append(self.written() if pace is None else pace.written(self.written))
            return found(results[-1])

        before = Snapshot(tree_of(self.step.function, self.step.targets), self.reporter)
        failure = difference(before, lambda: found(self.repeat(record)), write, is_exact)
        if failure is not None:
            failure += (
                "; something besides the arguments and the state of the targets enters the step, "
                "such as random numbers or arrays made in the step without chainer"
            )
        else:
            record.pace = pace
            if not self.step.keep_grads:
                for parameter in record.cleared:
                    parameter._gradient = None
        return failure, results[0]

    def repeat(self, record: StepRecord) -> Any:
        return record(self.found, self.reporter)


def capture(
    function: Callable[..., Any],
    *targets: Any,
    keep_grads: bool = False,
    audit: int = 0,
    on_failure: Literal["eager", "error"] = "eager",
) -> CapturedStep:
    """Makes a function one that is recorded, and repeated without its Python code.

    The function may be a whole training step: forward, backward and update. It stays ordinary code.
    Each new signature of arguments is run once as written and once for the record; then the record
    is compared with a run as written: bit by bit, or within some roundings where a compiler fuses
    operations (JAX). Where a step cannot be recorded, it runs as it is written, and one warning
    says why. So it does where a record takes longer that computes the same bits;
    :func:`chainer.explain` tells the times.

    Args:
        function (callable): Function of arrays and Variables, also in tuples, lists and dicts.
        targets: Links and optimizers whose state the function reads or changes.
        keep_grads (bool): Whether the gradients of parameters are there after a call. Otherwise
            ``grad`` of parameters is None.
        audit (int): If positive, every ``audit``-th call compares the record with a run as written.
            That finds values that enter the step in ways that cannot be seen.
        on_failure (str): ``'eager'``: a step that cannot be recorded runs as it is written, with a
            warning. ``'error'``: an error is raised; a record is repeated even if it takes longer.

    Returns:
        CapturedStep: Object to call in place of the function. :func:`chainer.explain` tells what it
        has recorded. Variables that it returns have no graph.

    Raises:
        TypeError: If a target is neither a link nor an optimizer, or ``function`` cannot be called.
        TypeError: If ``audit`` is not an integer.
        ValueError: If ``audit`` is negative or ``on_failure`` is unknown.
        CaptureError: By calls, with ``on_failure='error'``.

    Example:
        >>> model = L.Classifier(L.Linear(3, 2))
        >>> optimizer = chainer.optimizers.SGD(0.1).setup(model)
        >>> def train_step(x, t):
        ...     loss = model(x, t)
        ...     model.cleargrads()
        ...     loss.backward()
        ...     optimizer.update()
        ...     return loss
        >>> step = chainer.capture(train_step, model, optimizer)
        >>> x, t = np.ones((4, 3), np.float32), np.array([0, 1, 1, 0], np.int32)
        >>> losses = [float(step(x, t).array) for _ in range(5)]
        >>> losses[4] < losses[0]
        True
    """
    if not callable(function):
        raise TypeError(f"function must be callable, got {type(function).__name__}")
    given: object = audit
    if isinstance(given, bool) or not isinstance(given, (int, numpy.integer)):
        raise wrong_type("audit", "an integer", given)
    if audit < 0:
        raise ValueError(f"audit must not be negative, got {audit}")
    if on_failure not in ("eager", "error"):
        raise ValueError(f"on_failure must be 'eager' or 'error', got {on_failure!r}")
    return CapturedStep(function, targets, keep_grads, audit, on_failure)


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__
