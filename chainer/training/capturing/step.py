"""``chainer.capture``: a step that is recorded once and repeated at the speed of compiled code."""

from __future__ import annotations

import functools
import sys
import warnings
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Literal

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.recorder import NotRecordableError
from chainer.core.autograd.variable import Variable
from chainer.core.reporting.reporter import Reporter
from chainer.training.capturing.circumstances import (
    configuration,
    current_reporter,
    runs_as_written,
    with_place,
)
from chainer.training.capturing.last_call import LastCall
from chainer.training.capturing.program import Recording
from chainer.training.capturing.recording import ReplacedArrayError, StepRecording
from chainer.training.capturing.snapshot import (
    TRIALS_OF_ROUNDED_PROGRAMS,
    Snapshot,
    are_as_near,
    are_same,
    bytes_of_results,
)
from chainer.training.capturing.structure import NotSupportedError, flatten, key_of
from chainer.training.capturing.targets import Targets, rules_of, unshared_states
from chainer.training.optimizers.update_rule import UpdateRule

#: Programs of one step. A step that needs more has, for example, batches of ever other lengths.
LARGEST_NUMBER_OF_PROGRAMS = 8

#: Attempts to record a step; each finds more arrays that the step replaces.
_ATTEMPTS = 3


class CaptureError(RuntimeError):
    """A step cannot be captured, and ``on_failure='error'`` asks for an error."""


class _Entry:
    """What is known about the calls of one signature."""

    def __init__(self) -> None:
        self.calls = 0
        self.recordings: list[Recording] = []


class CapturedStep:
    """A function whose calls are recorded and repeated; made by :func:`capture`.

    The first call of a signature (shapes, dtypes, configuration) runs as it is written, so that
    parameters and states exist. The second is recorded. At the third the record is compared with a
    run as written, bit by bit; only then it takes the place of the function.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        targets: tuple[Any, ...],
        keep_grads: bool,
        audit: int,
        on_failure: Literal["eager", "error"],
    ) -> None:
        self._function = function
        self._targets = Targets(targets)
        self._keep_grads = keep_grads
        self._audit = audit
        self._on_failure = on_failure
        self._entries: dict[Hashable, _Entry] = {}
        self._replaced: set[tuple[int, str]] = set()
        self._seen: weakref.WeakSet[UpdateRule] = weakref.WeakSet()
        self._programs = 0
        self._reason: str | None = None
        self._last_guard: str | None = None
        self._last_call: LastCall | None = None
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, or what was recorded of it."""
        if self._reason is not None or runs_as_written():
            return self._function(*args, **kwargs)
        reporter = current_reporter()
        last = self._last_call
        if last is not None and not kwargs and last.has_signature_of(args, reporter is not None):
            recording = last.recording
            if recording.guards.holds():
                return recording(args, reporter)
        return self._call_by_key(args, kwargs, reporter)

    def _call_by_key(self, args: Any, kwargs: Any, reporter: Reporter | None) -> Any:
        """Does what is due at this call of a signature: run, record, compare or repeat."""
        found: list[Any] = []
        try:
            signature = key_of((args, kwargs), found)
        except NotSupportedError as error:
            return self._give_up(f"an argument: {error}", args, kwargs)
        key = (signature, configuration(), reporter is None)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry()
        entry.calls += 1
        if entry.calls == 1:
            self._seen.update(rules_of(self._targets.parameters()))
            return self._function(*args, **kwargs)
        recording = self._find(entry)
        if recording is None:
            return self._record(entry, found, reporter, args, kwargs)
        if not recording.is_verified or (self._audit and entry.calls % self._audit == 0):
            return self._verify(entry, recording, found, reporter, args, kwargs)
        if not (self._audit or kwargs) and _are_all(args, found) and type(key[1]) is tuple:
            # A tuple can be compared; the text of entries such as lists cannot.
            self._last_call = LastCall(args, reporter is not None, recording)
        return recording(found, reporter)

    # -- the ways to run --------------------------------------------------------------------------

    def _find(self, entry: _Entry) -> Recording | None:
        """Returns the recording that may take the place of the step."""
        for recording in entry.recordings:
            if recording.guards.holds():
                return recording
            broken = recording.guards.broken()
            if broken is None:
                return recording
            self._last_guard = broken
        return None

    def _has_hooks(self) -> bool:
        """Returns whether a link has hooks of its own."""
        return any([link._local_link_hooks for link in self._targets.links()])

    def _record(
        self,
        entry: _Entry,
        found: list[Any],
        reporter: Reporter | None,
        args: Any,
        kwargs: Any,
    ) -> Any:
        if self._has_hooks():
            # A hook that watches its link has to see each call.
            return self._function(*args, **kwargs)
        rules = rules_of(self._targets.parameters())
        if any([rule not in self._seen for rule in rules]):
            # Of new parameters: their first update makes the states.
            self._seen.update(rules)
            return self._function(*args, **kwargs)
        self._programs += 1
        if self._programs > LARGEST_NUMBER_OF_PROGRAMS:
            what = f"; last: {self._last_guard}" if self._last_guard else ""
            return self._give_up(
                f"it needs more than {LARGEST_NUMBER_OF_PROGRAMS} programs, for as many shapes of "
                f"arguments or settings{what}. Pad batches to a few shapes",
                args,
                kwargs,
            )
        try:
            _check_arguments(found)
            backend = _common_backend(found, self._targets)
        except NotRecordableError as error:
            return self._give_up(str(error), args, kwargs)
        if backend.recorder(backend.device()) is None:
            return self._give_up(
                f"backend {backend.name!r} cannot record", args, kwargs, quietly=True
            )
        result, attempt, recorder = self._run_recorded(
            backend, rules, found, reporter, args, kwargs
        )
        if attempt is None:
            return result
        # The step has run, so that its result is returned even if it cannot be recorded.
        try:
            recording = attempt.recording()
        except NotRecordableError as error:
            self._set_reason(with_place(error))
            return result
        except Exception as error:
            self._set_reason(f"{type(error).__name__}: {error}")
            return result
        # What is left of the recording now is somewhere where repetitions do not change it.
        del attempt
        kept = recorder.kept()
        if kept is None:
            entry.recordings.append(recording)
        else:
            self._set_reason(
                f"it keeps an array ({kept}) where only the step as written changes it, as in a "
                "list or an object that is not a target; return the array instead"
            )
        return result

    def _run_recorded(
        self,
        backend: Any,
        rules: list[UpdateRule],
        found: list[Any],
        reporter: Reporter | None,
        args: Any,
        kwargs: Any,
    ) -> tuple[Any, StepRecording | None, Any]:
        """Runs the step with a recorder, or as written if that fails.

        Returns:
            tuple: The result, the run and the recorder; None for the run if it failed.
        """
        structure = flatten((args, kwargs), [])
        # Before the snapshot, which refers to all arrays.
        owned = unshared_states(rules)
        # Only until the step has run: the program then needs the memory.
        before = Snapshot(self._targets, reporter)
        for _ in range(_ATTEMPTS):
            recorder = backend.recorder(backend.device())
            for state in owned:
                recorder.own(state)
            attempt = StepRecording(
                self._function, self._targets, recorder, self._keep_grads, self._replaced
            )
            try:
                return attempt.run(structure, found, reporter), attempt, recorder
            except ReplacedArrayError as error:
                before.restore()
                self._replaced |= error.keys
            except NotRecordableError as error:
                before.restore()
                return self._give_up(with_place(error), args, kwargs), None, None
            except Exception as error:
                # Of the function itself, which then raises again, or of a call of NumPy that
                # recorded arrays do not support.
                before.restore()
                result = self._function(*args, **kwargs)
                self._set_reason(f"{type(error).__name__}: {error}")
                return result, None, None
        before.restore()
        reason = "it replaces other arrays at each call"
        return self._give_up(reason, args, kwargs), None, None

    def _verify(
        self,
        entry: _Entry,
        recording: Recording,
        found: list[Any],
        reporter: Reporter | None,
        args: Any,
        kwargs: Any,
    ) -> Any:
        """Runs the record and the function on the same state, and compares everything."""
        before = Snapshot(self._targets, reporter)
        failure: str | None = None
        recorded: dict[str, Any] = {}
        is_exact = recording.program.is_exact
        try:
            result = recording(found, reporter)
            recorded = _results_of(result, is_exact)
            recorded |= before.values(is_exact)
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        before.restore()
        result = self._function(*args, **kwargs)
        written = _results_of(result, is_exact) | before.values(is_exact)
        if failure is None:
            differing = [
                name
                for name, value in written.items()
                if not are_same(recorded.get(name, value), value, is_exact)
            ]
            if differing and not is_exact:
                differing = self._not_rounded(before, differing, recorded, written, args, kwargs)
            if differing:
                failure = f"{differing[0]} differs from that of the step as written"
        if failure is not None:
            recording.failures += 1
            if not is_exact and recording.failures < TRIALS_OF_ROUNDED_PROGRAMS:
                return result
            entry.recordings.remove(recording)
            self._set_reason(
                f"{failure}; something besides the arguments and the state of the targets enters "
                "the step, such as random numbers or arrays made in the step without chainer"
            )
            return result
        recording.is_verified = True
        if not self._keep_grads:
            for parameter in recording.cleared:
                parameter._gradient = None
        return result

    def _not_rounded(
        self,
        before: Snapshot,
        names: list[str],
        recorded: dict[str, Any],
        written: dict[str, Any],
        args: Any,
        kwargs: Any,
    ) -> list[str]:
        """Returns the names of values whose differences roundings do not explain.

        Some steps enlarge roundings: Adam makes steps of full length of the gradient of a bias
        before batch normalization, which is zero but for roundings. How much roundings matter is
        tried: the step runs as written with parameters that differ by one rounding each.
        """
        after = Snapshot(self._targets, before.reporter)
        before.restore()
        before.round_parameters()
        found = _results_of(self._function(*args, **kwargs), False) | before.values(False)
        after.restore()
        return [
            name
            for name in names
            if not are_as_near(recorded[name], written[name], found.get(name, written[name]))
        ]

    def _give_up(self, reason: str, args: Any, kwargs: Any, quietly: bool = False) -> Any:
        self._set_reason(reason, quietly)
        return self._function(*args, **kwargs)

    def _set_reason(self, reason: str, quietly: bool = False) -> None:
        self._reason = reason
        if self._on_failure == "error":
            raise CaptureError(f"{_name_of(self._function)} cannot be captured: {reason}")
        if not quietly:
            warnings.warn(
                f"{_name_of(self._function)} cannot be captured, and runs as it is written: "
                f"{reason}",
                UserWarning,
                stacklevel=_level_of_caller(),
            )

    # -- what users ask ---------------------------------------------------------------------------

    def explain(self) -> str:
        """Returns what is recorded: programs, what they carry, or why there are none."""
        lines = [f"captured step {_name_of(self._function)}"]
        if self._reason is not None:
            return "\n".join([*lines, f"  runs as it is written: {self._reason}"])
        if self._has_hooks():
            lines.append("  runs as it is written while links have hooks of their own")
        for number, (key, entry) in enumerate(self._entries.items(), 1):
            shapes = _shapes_in(key)
            lines.append(f"  signature {number}: {', '.join(shapes) or 'no arrays'}")
            if not entry.recordings:
                lines.append(f"    not recorded yet ({entry.calls} calls)")
            for recording in entry.recordings:
                state = "in use" if recording.is_verified else "to be compared at the next call"
                lines.append(f"    program: {recording.program.description}, {state}")
                lines += [f"    carried from call to call: {slot}" for slot in recording.carried]
                if recording.counters:
                    names = sorted({name for _, name, _ in recording.counters})
                    lines.append(f"    numbers that grow: {', '.join(names)}")
                if recording.reports:
                    lines.append(f"    reports: {', '.join([k for k, _ in recording.reports])}")
        if self._last_guard is not None:
            lines.append(f"  last recorded anew because {self._last_guard}")
        return "\n".join(lines)


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
    operations (JAX). Where a step cannot be recorded, it runs as it is
    written, and one warning says why.

    Args:
        function (callable): Function of arrays and Variables, also in tuples, lists and dicts.
        targets: Links and optimizers whose state the function reads or changes.
        keep_grads (bool): Whether the gradients of parameters are there after a call. Otherwise
            ``grad`` of parameters is None.
        audit (int): If positive, every ``audit``-th call compares the record with a run as written.
            That finds values that enter the step in ways that cannot be seen.
        on_failure (str): ``'eager'``: a step that cannot be recorded runs as it is written, with a
            warning. ``'error'``: an error is raised.

    Returns:
        CapturedStep: Object to call in place of the function. :func:`chainer.explain` tells what it
        has recorded. Variables that it returns have no graph.

    Raises:
        TypeError: If a target is neither a link nor an optimizer, or ``function`` cannot be called.
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
    if audit < 0:
        raise ValueError(f"audit must not be negative, got {audit}")
    if on_failure not in ("eager", "error"):
        raise ValueError(f"on_failure must be 'eager' or 'error', got {on_failure!r}")
    return CapturedStep(function, targets, keep_grads, audit, on_failure)


def _level_of_caller() -> int:
    """Returns the ``stacklevel`` of the code that called the step, for warnings of this module."""
    # Steps are refused at several depths of this module.
    level, frame = 1, sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        level, frame = level + 1, frame.f_back
    return level


def _are_all(args: tuple[Any, ...], found: list[Any]) -> bool:
    """Returns whether all arguments are arrays and Variables."""
    return [*map(id, args)] == [*map(id, found)]


def _check_arguments(found: list[Any]) -> None:
    for x in found:
        if isinstance(x, Variable) and x.creator_node is not None:
            raise NotRecordableError("an argument is part of a graph that begins outside of it")


def _common_backend(found: list[Any], targets: Targets) -> Any:
    """Returns the backend of arguments and parameters."""
    arrays = [x.array if isinstance(x, Variable) else x for x in found]
    arrays += [p.array for p in targets.parameters() if p.array is not None]
    backends = {backend_of(array) for array in arrays if array is not None}
    if len(backends) != 1:
        names = sorted([backend.name for backend in backends])
        raise NotRecordableError(f"its arrays belong to {len(backends)} backends: {names}")
    return backends.pop()


def _results_of(result: Any, is_exact: bool) -> dict[str, Any]:
    found: list[Any] = []
    flatten(result, found)
    return {f"result {i}": value for i, value in enumerate(bytes_of_results(found, is_exact))}


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__


def _shapes_in(key: Any) -> list[str]:
    """Returns dtype and shape of each array in a key."""
    if isinstance(key, tuple):
        if len(key) == 4 and isinstance(key[0], type) and hasattr(key[2], "itemsize"):
            return [f"{key[2]}{list(key[3])}"]
        return [
            text for part in key[:1] if isinstance(part, tuple) for text in _shapes_in(part)
        ] + [text for part in key[1:] for text in _shapes_in(part) if isinstance(part, tuple)]
    return []
