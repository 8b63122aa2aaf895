"""The training loop."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from chainer.core import events
from chainer.core.arguments import require_attribute, wrong_type
from chainer.core.arrays.random_states import random_states, set_random_states
from chainer.core.autograd.collector_pacing import paced_collector
from chainer.core.foreign_names import CheckedKeywords
from chainer.core.registry import registries
from chainer.core.reporting.reporter import Reporter
from chainer.core.utils import termination
from chainer.core.utils.atomic_file import remove_leftovers
from chainer.core.utils.output_locks import OutputLocks
from chainer.core.utils.repr_texts import Plain, call_text
from chainer.links.loaded_state import load_optional, serialize_if_able
from chainer.links.serializer import Serializer
from chainer.training.extension import (
    PRIORITY_READER,
    Extension,
    ExtensionEntry,
    ExtensionLike,
    names_in_release_7,
    serialize_extensions,
)
from chainer.training.trigger import TriggerLike, get_trigger

if TYPE_CHECKING:
    from chainer.core.typing import FilePath, HostArray
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.updater import Updater

#: Seconds of the clock that measures the training. Tests of programs replace it.
_get_time: Callable[[], float] = time.perf_counter


class Trainer(CheckedKeywords):
    """The standard training loop in Chainer.

    Users can invoke the training by calling the :meth:`run` method. Each iteration proceeds as
    follows.

    - Update of the parameters: the mini-batch loading, forward and backward computations, and an
      execution of the update formula. All of it is done by the updater.
    - Invocation of trainer extensions in the descending order of their priorities. A trigger object
      is attached to each extension and decides at each iteration whether the extension is executed.

    Extensions are callable objects that take the trainer, see :class:`~chainer.training.Extension`,
    and are registered by :meth:`extend`. There are three standard priorities:

    - ``PRIORITY_WRITER``: for extensions that write some records to the :attr:`observation`
      dictionary, directly or through :func:`chainer.report`.
    - ``PRIORITY_EDITOR``: for extensions that edit the :attr:`observation` based on already
      reported values.
    - ``PRIORITY_READER``: for extensions that only read records from the :attr:`observation`, or do
      not use it at all.

    The state of the trainer and of the objects it handles can be serialized, which lets a training
    be suspended and resumed. Only what changes over the training is saved (parameters, optimizer
    states, the position in the dataset, extension states, ...); objects must be made and registered
    as before when the states are loaded. That also means that settings, such as the exit condition,
    can be changed in between.

    For each iteration a fresh observation dictionary is made, and a :class:`~chainer.Reporter` is
    current in which the links of the target model of each optimizer are observers called
    ``<optimizer name><link name>``, such as ``'main'`` and ``'main/predictor/l1'``. Other observers
    can be registered with :attr:`reporter`.

    The default trainer does not contain any extensions.

    Args:
        updater (Updater): Updater object. It defines how to update the models.
        stop_trigger: Trigger that determines when to stop the training loop. If it is not callable,
            it is passed to :class:`~chainer.training.triggers.IntervalTrigger`. If it is None, the
            loop does not stop.
        out (str): Output directory, made when the loop starts. A relative path is resolved then:
            the program may change its working directory later.
        extensions: Iterable of extensions to register, or dictionary of extensions by name.

    Raises:
        RuntimeError: If an optimizer of the updater is not set up.

    Attributes:
        updater: The updater object for this trainer.
        stop_trigger: Trigger that determines when to stop the training loop. The training loop
            stops at the iteration on which this trigger returns True.
        observation (dict): Observation of values made at the last update.
        out (str): Output directory.
        reporter (Reporter): Reporter object to report observed values.
        stop_reason (str): Why :meth:`stop` was called; None if it was not.

    Example:
        >>> model = L.Classifier(L.Linear(2, 2))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (3, "epoch"))
        >>> trainer.extend(training.extensions.LogReport())
        >>> trainer.run()
        >>> trainer.updater.iteration
        6
    """

    def __init__(
        self,
        updater: Updater,
        stop_trigger: TriggerLike = None,
        out: FilePath = "result",
        extensions: Iterable[ExtensionLike] | dict[str, ExtensionLike] | None = None,
    ) -> None:
        self.stop_trigger = get_trigger(stop_trigger)
        require_attribute(
            "updater", updater, "get_all_optimizers", "an updater, such as a StandardUpdater"
        )
        self.updater = updater
        self.observation: dict[str, Any] = {}
        if not isinstance(out, (str, bytes, os.PathLike)):
            raise wrong_type("out", "the path of a folder", out)
        self.out = os.fspath(out)
        self.reporter = Reporter()
        self.stop_reason: str | None = None
        for name, optimizer in updater.get_all_optimizers().items():
            if optimizer.target is None:
                raise RuntimeError(
                    f"optimizer {name!r} is not set up: call its `setup` method with the model "
                    "before the trainer is made"
                )
            self.reporter.add_observer(name, optimizer.target)
            self.reporter.add_observers(name, optimizer.target.namedlinks(skipself=True))
        self._extensions: dict[str, ExtensionEntry] = {}
        # Time at which the present run began; None between runs.
        self._start_at: float | None = None
        # Time of the runs before the present one, those before a snapshot included.
        self._snapshot_elapsed_time = 0.0
        # States of the random generators in a snapshot that was loaded; None for none.
        self._random_states: HostArray | None = None
        self._started = False
        self._done = False
        updater.connect_trainer(self)
        if isinstance(extensions, dict):
            for name, extension in cast("dict[str, ExtensionLike]", extensions).items():
                self.extend(extension, name)
        else:
            for extension in extensions or ():
                self.extend(extension)

    def __repr__(self) -> str:
        return call_text(
            self,
            [
                ("updater", Plain(repr(self.updater))),
                ("stop_trigger", Plain(repr(self.stop_trigger))),
                ("out", self.out),
                ("extensions", Plain(f"[{', '.join(self._extensions)}]")),
            ],
        )

    @property
    def elapsed_time(self) -> float:
        """Total time used for the training, in seconds.

        If the training is resumed from a snapshot or after an interruption, the time of all the
        previous training is included.

        Raises:
            RuntimeError: If the training has not been started yet.
        """
        if not self._started:
            raise RuntimeError("training has not been started yet")
        if self._start_at is None:
            return self._snapshot_elapsed_time
        return _get_time() - self._start_at + self._snapshot_elapsed_time

    @property
    def is_before_training(self) -> bool:
        """Whether no update has been made yet."""
        return self.updater.iteration == 0

    def extend(
        self,
        extension: ExtensionLike,
        name: str | None = None,
        trigger: TriggerLike = None,
        priority: int | None = None,
        *,
        call_before_training: bool = False,
        invoke_before_training: bool | None = None,
        **kwargs: Any,
    ) -> None:
        """Registers an extension to the trainer.

        The extension is called after each update unless its trigger decides to skip the iteration.
        Extensions with higher priorities are called earlier, those with the same priority in the
        order of registration.

        If several extensions with the same name are registered, suffixes ``_1``, ``_2``, ... are
        added to the names of the second to last ones. The extension gets the name as its attribute
        ``name``, if it takes attributes.

        Args:
            extension: Extension to register, see :class:`~chainer.training.Extension`.
            name (str): Name of the extension. If it is omitted, the attribute ``name`` of the
                extension is used, else its ``default_name``, else its ``__name__``.
            trigger (tuple or Trigger): Trigger object that determines when to invoke the extension.
                If it is None, ``extension.trigger`` is used instead, and without that the extension
                is triggered at every iteration. If it is not callable, it is passed to
                :class:`~chainer.training.triggers.IntervalTrigger`.
            priority (int): Invocation priority of the extension. If this is None,
                ``extension.priority`` is used instead, and without that ``PRIORITY_READER``.
            call_before_training (bool): Whether to call the extension also once before the first
                iteration, whatever its trigger says. A training that is resumed later than that
                does not call it.
            invoke_before_training (bool): Removed in v2, where the method ``initialize`` of
                extensions took its place. It is accepted with a DeprecationWarning and means
                ``call_before_training``.

        Raises:
            TypeError: If the extension is not callable or has no name.
            ValueError: If the name is ``'training'``.
        """
        if kwargs:
            names = ", ".join(map(repr, kwargs))
            raise TypeError(f"extend() got unexpected keyword argument(s) {names}")
        if invoke_before_training is not None:
            warnings.warn(
                "invoke_before_training has been removed since Chainer v2.0.0. Define initialize() "
                "in the extension, or pass call_before_training=True.",
                DeprecationWarning,
                stacklevel=2,
            )
            call_before_training = call_before_training or invoke_before_training
        if isinstance(extension, type) and issubclass(extension, Extension):
            raise TypeError(
                f"extension must be an object, got the class {extension.__name__}: "
                f"write trainer.extend({extension.__name__}(...))"
            )
        if not callable(extension):
            raise TypeError(f"extension must be callable, got {type(extension).__name__}")
        named_by_user = name is not None
        for attribute in ("name", "default_name", "__name__"):
            if name is None:
                name = getattr(extension, attribute, None)
        if name is None:
            raise TypeError(f"name is not given for the extension {extension!r}")
        if name == "training":
            raise ValueError('the name "training" is prohibited as an extension name')
        if trigger is None:
            trigger = getattr(extension, "trigger", None)
            if trigger is None:
                trigger = (1, "iteration")
        if priority is None:
            priority = int(getattr(extension, "priority", PRIORITY_READER))
        name = self._free_name(name)
        # Evaluator and others use the name under which they are registered. Functions take
        # attributes, too; bound methods and objects with slots do not.
        with suppress(AttributeError, TypeError):
            extension.name = name  # pyright: ignore[reportFunctionMemberAccess]
        self._extensions[name] = ExtensionEntry(
            name, extension, priority, get_trigger(trigger), call_before_training, named_by_user
        )

    def _free_name(self, name: str) -> str:
        free, ordinal = name, 0
        while free in self._extensions:
            ordinal += 1
            free = f"{name}_{ordinal}"
        return free

    def get_extension(self, name: str) -> Any:
        """Returns the extension of a given name.

        Args:
            name (str): Name of the extension. Snapshot extensions that are registered without a
                name have two: ``'snapshot'`` or ``'snapshot_object'``, as in release 4, and
                ``'_Snapshot'``, as in release 7.

        Returns:
            The extension.

        Raises:
            ValueError: If there is none of this name.
        """
        if name not in self._extensions:
            aliases = {alias: own for own, alias in names_in_release_7(self._extensions).items()}
            if name not in aliases:
                known = ", ".join(self._extensions) or "none"
                text = f"extension {name} not found; registered extensions: {known}"
                if name in registries.extensions:
                    text += f"; add it by trainer.extend(extensions.{name}())"
                raise ValueError(text)
            name = aliases[name]
        return self._extensions[name].extension

    def stop(self, reason: str) -> None:
        """Ends the training loop after the present iteration, whatever the stop trigger says.

        This is for extensions; the remaining ones of the iteration are still called. A snapshot
        does not contain the request, so that a training that is resumed goes on.

        Args:
            reason (str): Why, for people; kept as :attr:`stop_reason`. The first one stays.
        """
        if self.stop_reason is None:
            self.stop_reason = reason

    def run(self, show_loop_exception_msg: bool = True) -> None:
        """Executes the training loop.

        However the loop ends (regularly, by an exception, by Ctrl-C or by the signal SIGTERM, which
        raises ``SystemExit`` here), the extensions and the updater are finalized.

        After an exception, Ctrl-C included, this method can be called again, as one does in a
        notebook. The training goes on where it was: extensions are initialized again, and a
        snapshot is not loaded again. A training that came to its end cannot run again.

        Args:
            show_loop_exception_msg (bool): Whether an exception in the loop is printed to the
                standard error stream before the finalization, which may take long or fail in turn.

        Raises:
            RuntimeError: If the training was completed before, or if another process is writing the
                same log or snapshots in the output directory.
            OSError: If the output directory cannot be made.
        """
        if self._done:
            raise RuntimeError("cannot run training loop multiple times")
        self.out = os.path.abspath(self.out)
        os.makedirs(self.out, exist_ok=True)
        remove_leftovers(self.out)
        locks = OutputLocks(self.out, self._written_names())
        try:
            self._run(show_loop_exception_msg)
        finally:
            locks.release()

    def _written_names(self) -> Iterator[str]:
        """Yields the names, or patterns of names, of the files that extensions write."""
        for entry in self._extensions.values():
            name = getattr(entry.extension, "written_name", None)
            if isinstance(name, str):
                yield name

    def _run(self, show_loop_exception_msg: bool) -> None:
        entries = sorted(self._extensions.values(), key=lambda entry: -entry.priority)
        resumed, self._started = self._started, True
        self._start_at = _get_time()
        events.emit("chainer_trainer_start", trainer=self)
        try:
            with termination.sigterm_raises_system_exit():
                try:
                    self._prepare(entries, resumed)
                    with paced_collector():
                        self._loop(entries)
                except Exception as error:
                    self._handle_error(entries, error, show_loop_exception_msg)
                    raise
            self._done = True
        finally:
            self._snapshot_elapsed_time = self.elapsed_time
            self._start_at = None
            self._finalize(entries)

    def _prepare(self, entries: list[ExtensionEntry], resumed: bool) -> None:
        """Initializes the extensions and makes the calls before the first iteration."""
        # After an exception the state in memory is newer than any snapshot.
        if not resumed:
            for entry in entries:
                entry.call("restore", self)
        for entry in entries:
            # A trigger that will not fire again, such as OnceTrigger in a resumed training, needs
            # no preparation.
            if not getattr(entry.trigger, "finished", False):
                entry.call("initialize", self)
        if self._random_states is not None:
            set_random_states(self._random_states)
            self._random_states = None
        if not self.is_before_training:
            return
        before = [entry for entry in entries if entry.call_before_training]
        if before:
            self.observation = {}
            with self.reporter.scope(self.observation):
                for entry in before:
                    entry.extension(self)

    def _loop(self, entries: list[ExtensionEntry]) -> None:
        update, stop_trigger, reporter = self.updater.update, self.stop_trigger, self.reporter
        while self.stop_reason is None and not stop_trigger(self):
            self.observation = {}
            with reporter.scope(self.observation):
                update()
                for entry in entries:
                    if entry.trigger(self):
                        entry.extension(self)

    def _handle_error(
        self, entries: list[ExtensionEntry], error: Exception, show_message: bool
    ) -> None:
        if show_message:
            print(f"Exception in main training loop: {error}", file=sys.stderr)
            print(
                "Will finalize trainer extensions and updater before reraising the exception.",
                file=sys.stderr,
                flush=True,
            )
        for entry in entries:
            try:
                entry.call("on_error", self, error, error.__traceback__)
            except Exception as another:
                self._complain("on_error", entry.name, another)

    def _finalize(self, entries: list[ExtensionEntry]) -> None:
        """Finalizes everything, even when one of them fails; the first failure is raised."""
        failure: BaseException | None = None
        steps: list[tuple[str, Callable[[], Any]]] = [
            (entry.name, lambda entry=entry: entry.call("finalize")) for entry in entries
        ]
        steps.append(("updater", self.updater.finalize))
        for name, finalize in steps:
            try:
                finalize()
            except BaseException as error:
                if failure is None:
                    failure = error
                else:
                    self._complain("finalize", name, error)
        events.emit("chainer_trainer_end", trainer=self)
        if failure is not None:
            raise failure

    def _complain(self, method: str, name: str, error: BaseException) -> None:
        print(f"Exception in {method} of {name!r}: {error!r}", file=sys.stderr, flush=True)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes updater, stop trigger, extensions, their triggers, and the elapsed time.

        The states of the global random generators are saved, too. The states in a file are set when
        :meth:`run` begins the loop; files of earlier releases have none, and nothing is set.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self.updater.serialize(serializer["updater"])
        serialize_if_able(self.stop_trigger, serializer["stop_trigger"])
        serialize_extensions(self._extensions, serializer)
        key = "_snapshot_elapsed_time"
        if isinstance(serializer, Serializer):
            serializer(key, self.elapsed_time if self._started else self._snapshot_elapsed_time)
            serializer("random_states", random_states())
        else:
            time_before = load_optional(serializer, key, self._snapshot_elapsed_time)
            self._snapshot_elapsed_time = float(time_before)
            # Set when the loop begins: what a program draws until then does not matter.
            states = load_optional(serializer, "random_states", None)
            self._random_states = states
            # A snapshot that is loaded while the training runs brings its own time.
            if self._start_at is not None:
                self._start_at = _get_time()
            # A long log is partly in its file, in the output directory. Programs read the log of a
            # trainer that is loaded and not run.
            for entry in self._extensions.values():
                entry.call("_read_log_file", self)
