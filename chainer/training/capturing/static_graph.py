"""Static chains: the decorator :func:`static_graph` and the schedules of a chain.

A method with the decorator promises that it always applies the same functions, apart from training
or test mode and the shapes of its inputs. On backends with a recorder the functions are recorded
(:mod:`chainer.training.capturing.machine`); on others the Python code runs at each call. Schedules
and iterations are as Chainer 5 to 7 document them.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy

from chainer.core.arrays.backend import find_backend
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, threads, using_config
from chainer.core.typing import VariableLike
from chainer.links.link import Link
from chainer.training.capturing.circumstances import (
    configuration,
    current_reporter,
    runs_as_written,
)
from chainer.training.capturing.machine import Call, Machine
from chainer.training.capturing.static_record import ChainRecord, Run
from chainer.training.capturing.static_schedule import (
    ArrayInfo,
    ScheduleInfo,
    StaticScheduleFunction,
)
from chainer.training.capturing.structure import (
    Structure,
    flatten,
    leaves_of,
    map_leaves,
    unflatten,
)

__all__ = [
    "ArrayInfo",
    "ScheduleInfo",
    "ScheduleManager",
    "StaticScheduleFunction",
    "static_graph",
]

_F = TypeVar("_F", bound=Callable[..., Any])

#: Calls of one signature whose graphs are alive at the same time, and that are repeated; each needs
#: memory of its own. The unrolled calls of a long loop run as written beyond that.
MOST_AT_ONCE = 8

#: Records of one chain, for as many shapes, modes and settings. Beyond that, it runs as written.
MOST_RECORDS = 24


class ScheduleManager:
    """The schedules of one chain.

    Args:
        minimize_cache_size (bool): Whether the schedules are deleted when ``config.train`` changes.
        verbosity_level (int): See :func:`static_graph`.

    Attributes:
        schedules (dict): Key -> list of :class:`StaticScheduleFunction`. The key tells the mode,
            and shape and data type of each input, such as ``'train:(5, 3)float32'``.
    """

    def __init__(self, minimize_cache_size: bool = True, verbosity_level: int = 0) -> None:
        self.minimize_cache_size = minimize_cache_size
        self.verbosity_level = verbosity_level
        self.schedules: dict[str, list[StaticScheduleFunction]] = {}
        #: Number of schedules of a key that are in use in this iteration.
        self.in_use_count: dict[str, int] = {}
        # The chain and its records; None for a chain that always runs as it is written.
        self._machine: tuple[weakref.ref[Link], Machine[ChainRecord]] | None = None
        self._train: bool | None = None
        # The text of a data type takes longer to make than the rest of a call.
        self._keys: dict[tuple[object, ...], str] = {}

    def get_schedule(
        self, in_vars: Sequence[Variable], enable_double_backprop: bool = False
    ) -> StaticScheduleFunction:
        """Returns the schedule for a call.

        In training mode each call of an iteration gets another one. In test mode there is one for
        each key.

        Args:
            in_vars (list of ~chainer.Variable): Inputs of the chain.
            enable_double_backprop (bool): See :class:`StaticScheduleFunction`.
        """
        if self.minimize_cache_size and config.train != self._train:
            self.schedules.clear()
            self.in_use_count.clear()
            if self._machine is not None:
                self._machine[1].clear()
        self._train = config.train
        trains = config.train and config.enable_backprop
        key = self._key(trains, in_vars)
        schedules = self.schedules.setdefault(key, [])
        index = 0
        if trains:
            index = self.in_use_count.get(key, 0)
            self.in_use_count[key] = index + 1
        # A node serves one call. Replacing that of an earlier iteration releases its graph before
        # the graph of this call is made.
        schedule = StaticScheduleFunction(self, self.verbosity_level, enable_double_backprop)
        if index < len(schedules):
            schedules[index] = schedule
        else:
            schedules.append(schedule)
            if self.verbosity_level >= 1:
                print(f"static_graph: new schedule {index} for {key}")
        return schedule

    def machine_of(self, chain: Link) -> Machine[ChainRecord]:
        """Returns what is recorded of a chain.

        Args:
            chain (~chainer.Chain): The chain. A copy has the manager of the original, and gets
                records of its own.
        """
        if self._machine is None or self._machine[0]() is not chain:
            machine = Machine[ChainRecord](
                self._refused, MOST_RECORDS, MOST_AT_ONCE, advice="records"
            )
            self._machine = weakref.ref(chain), machine
        return self._machine[1]

    def _refused(self, reason: str) -> None:
        if self.verbosity_level >= 1:
            print(f"static_graph: runs as it is written: {reason}")

    def _key(self, trains: bool, in_vars: Sequence[Variable]) -> str:
        parts = (trains, *[(x.shape, x.dtype) for x in in_vars])
        key = self._keys.get(parts)
        if key is None:
            texts = [f"{x.shape}{numpy.dtype(x.dtype)}" for x in in_vars]
            key = self._keys[parts] = "".join(["train:" if trains else "test:", *texts])
        return key

    def end_forward(self) -> None:
        """Ends the iteration: the next calls use the schedules from the first one on.

        The backward computation calls it. A program calls it where no backward computation follows
        calls in training mode.
        """
        if self.verbosity_level >= 2 and self.in_use_count:
            print(f"static_graph: end of iteration, schedules in use: {self.in_use_count}")
        self.in_use_count.clear()

    def refuse(self, reason: str) -> None:
        """Lets the chain run as it is written from now on.

        Args:
            reason (str): Why.
        """
        if self._machine is not None:
            self._machine[1].refuse(reason)

    def explain(self) -> str:
        """Returns what is recorded of the chain, or why it runs as it is written."""
        if self._machine is None:
            return "runs as it is written: it asks for gradients of gradients"
        machine = self._machine[1]
        if machine.reason is not None:
            return f"runs as it is written: {machine.reason}"
        records = [r for entry in machine.entries.values() for r in entry.records]
        ready = [r for r in records if r.is_verified]
        return f"{len(ready)} records in use, {len(records) - len(ready)} to be compared"

    def __reduce__(self) -> Any:
        # A copy of a chain makes its own schedules.
        return ScheduleManager, (self.minimize_cache_size, self.verbosity_level)

    def __repr__(self) -> str:
        lengths = {key: len(schedules) for key, schedules in self.schedules.items()}
        return f"ScheduleManager({lengths})"


@overload
def static_graph(method: _F, /, **options: object) -> _F: ...


@overload
def static_graph(**options: object) -> Callable[[_F], _F]: ...


def static_graph(*args: Any, **kwargs: Any) -> Any:
    """Decorator for a method of a :class:`~chainer.Chain` that always applies the same functions.

    The method has to apply the same functions at each call with inputs of the same shapes, apart
    from the mode (``config.train``). Code with other effects belongs in functions marked with
    :func:`chainer.static_code`. The arguments of the method are Variables or arrays, or tuples or
    lists of them, nested at will; it gets them as Variables and tuples. It returns a Variable, or
    a tuple or list of Variables, nested at will; the caller gets tuples.

    Calls that belong to one graph make up an *iteration*, which ends with the backward computation
    or with ``chain.schedule_manager.end_forward()``.

    The results are those of the undecorated method. On NumPy and JAX the second call of a signature
    (shapes, dtypes, settings) is recorded, as a program for the forward computation and one for the
    backward computation. The third call compares them with the method. Later calls run the
    programs, and not the Python code. A method that a program cannot repeat (it reads values, keeps
    arrays, counts, reports, draws numbers of its own) runs as it is written, and so does each call
    in debug mode, with hooks, or in a captured step. ``chainer.explain(chain.schedule_manager)``
    tells what is recorded, or why nothing is.

    Used without arguments or with options as keywords; unknown options are ignored.

    Args:
        force_test_define_by_run (bool): Whether the decorator has no effect in test mode, that is
            if ``config.train`` is False. False by default.
        minimize_cache_size (bool): Whether the schedules are deleted when ``config.train`` changes.
            False by default.
        verbosity_level (int): 1 to print a line for each new schedule, 2 to print one for each
            iteration, too. 0 by default.
        enable_double_backprop (bool): Whether gradients can be differentiated in turn. The method
            then runs as it is written. False by default: once the chain is recorded,
            differentiating its gradients raises RuntimeError.

    Returns:
        callable: The method. It raises TypeError for other arguments and results, and RuntimeError
        if it is called within a call of another static chain. If ``config.use_static_graph`` is
        False, it is the undecorated method.

    Example:
        >>> class MLP(chainer.Chain):
        ...     def __init__(self):
        ...         super().__init__()
        ...         with self.init_scope():
        ...             self.l1 = L.Linear(4, 3)
        ...             self.l2 = L.Linear(3, 2)
        ...     @chainer.static_graph
        ...     def forward(self, x):
        ...         return self.l2(F.relu(self.l1(x)))
        >>> model = MLP()
        >>> y = model(np.zeros((5, 4), np.float32))
        >>> F.sum(y).backward()
        >>> model.schedule_manager
        ScheduleManager({'train:(5, 4)float32': 1})
    """
    if args:
        return _decorate(args[0], **kwargs)
    return functools.partial(_decorate, **kwargs)


def _decorate(
    method: Callable[..., Any],
    *,
    force_test_define_by_run: bool = False,
    minimize_cache_size: bool = False,
    verbosity_level: int = 0,
    enable_double_backprop: bool = False,
    **unknown: object,
) -> Callable[..., Any]:
    # Options are keywords: static_graph(2) would otherwise fail at the first call of the chain.
    if not callable(method):
        raise TypeError(f"static_graph decorates a method, got {method!r}")

    @functools.wraps(method)
    def wrapper(chain: Link, *args: VariableLike, **kwargs: Any) -> Any:
        if not config.use_static_graph or (force_test_define_by_run and not config.train):
            return method(chain, *args, **kwargs)
        if not isinstance(chain, Link):
            raise TypeError(f"static_graph decorates methods of chains, got {type(chain).__name__}")
        if config.schedule_func is not None:
            raise RuntimeError("Not allowed to nest static chains: ", chain)
        found: list[VariableLike] = []
        structure = flatten(map_leaves(args, _checked_argument), found)
        in_vars = [x if isinstance(x, Variable) else Variable(x) for x in found]
        manager = _manager_of(chain, minimize_cache_size, verbosity_level)
        # A captured step, which this call is a part of, must keep nothing of it.
        is_inside = threads.state.recorder is not None
        if is_inside:
            schedule = StaticScheduleFunction(manager, verbosity_level, enable_double_backprop)
        else:
            schedule = manager.get_schedule(in_vars, enable_double_backprop)
            vars(chain)["static_schedule"] = schedule
        schedule.chain = chain

        def check(value: object) -> object:
            if not isinstance(value, Variable):
                raise TypeError(
                    f"{method.__qualname__}, which is decorated with static_graph, must return "
                    f"Variables or tuples or lists of them, got {type(value).__name__}"
                )
            return value

        def run(variables: Sequence[Variable]) -> tuple[Structure, list[Variable]]:
            with using_config("schedule_func", schedule):
                results = method(chain, *unflatten(structure, iter(variables)), **kwargs)
            outputs: list[Any] = []
            return flatten(map_leaves(results, check), outputs), outputs

        call = _ChainCall(method, schedule, structure, in_vars, run)
        if enable_double_backprop or is_inside:
            return call.written()
        machine = manager.machine_of(chain)
        is_repeated = len({id(x.node) for x in in_vars}) < len(in_vars)
        if kwargs or is_repeated or runs_as_written():
            return call.written()
        key = method, structure, configuration(), current_reporter() is None
        return machine.run(key, call)

    return wrapper


def _checked_argument(value: object) -> object:
    if isinstance(value, Variable) or find_backend(type(value)) is not None:
        return value
    raise TypeError(
        "arguments of a static chain must be Variables or arrays, or tuples or lists of them, "
        f"got {type(value).__name__}"
    )


class _ChainCall(Call[ChainRecord]):
    """One call of a static chain."""

    def __init__(
        self,
        method: Callable[..., Any],
        schedule: StaticScheduleFunction,
        structure: Structure,
        in_vars: Sequence[Variable],
        run: Run,
    ) -> None:
        self._method, self._schedule, self._run = method, schedule, run
        self._structure, self._in_vars = structure, in_vars

    def written(self) -> Any:
        results, out_vars = self._run(self._in_vars)
        outputs = self._schedule.apply(out_vars) if out_vars else ()
        return unflatten(results, iter(outputs))

    def record(self) -> tuple[Any, ChainRecord | str]:
        # The record is made beside the call, whose graph the caller needs.
        chain = self._schedule.chain
        assert chain is not None
        given = [leaf[1] is None for leaf in leaves_of(self._structure)]
        record = ChainRecord(chain, self._method, self._run, self._in_vars, given)
        return self.written(), record

    def compare(self, record: ChainRecord) -> tuple[str | None, Any]:
        return record.compare(self._run, self._in_vars), self.written()

    def repeat(self, record: ChainRecord) -> Any:
        record.belongs_to(self._schedule)
        return self._schedule.replay(record, self._in_vars)


def _manager_of(chain: Link, minimize_cache_size: bool, verbosity_level: int) -> ScheduleManager:
    """Returns the manager of a chain, which is made at its first call."""
    # Not through __setattr__ of the chain, which may refuse or register what is assigned.
    members = vars(chain)
    manager = members.get("schedule_manager")
    if manager is None:
        manager = ScheduleManager(minimize_cache_size, verbosity_level)
        members["schedule_manager"] = manager
    return manager
