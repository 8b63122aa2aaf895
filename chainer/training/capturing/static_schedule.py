"""Schedules of static chains: the functions that one call of a chain applied.

Their classes and attributes are as Chainer 5 to 7 document them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer import functions
from chainer.core.arrays.backend import find_backend
from chainer.core.arrays.recorder import NotRecordableError
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, threads
from chainer.core.typing import Array, Arrays, Indexes
from chainer.functions.math.identity import Identity
from chainer.functions.rules import Ops, Value, Values
from chainer.links.link import Link
from chainer.training.capturing.static_record import ChainRecord
from chainer.training.capturing.structure import unflatten

if TYPE_CHECKING:
    from chainer.training.capturing.static_graph import ScheduleManager


class ArrayInfo:
    """Properties of an array that functions of a static chain share.

    Args:
        array: The array.

    Attributes:
        shape (tuple of ints): Shape of the array.
        dtype (numpy.dtype): Data type of the array.
    """

    def __init__(self, array: Array) -> None:
        self.shape = array.shape
        self.dtype = array.dtype
        backend = find_backend(type(array))
        self._module = numpy if backend is None else backend.xp
        try:
            self._reference: Callable[[], Array | None] = weakref.ref(array)
        except TypeError:
            # Some array types do not support weak references; such an array counts as deleted.
            self._reference = lambda: None

    def refers_to(self, array: Array) -> bool:
        """Tells whether this describes a given array."""
        return self._reference() is array

    def was_deleted(self) -> bool:
        """Tells whether the array does not exist any more."""
        return self._reference() is None

    def get_new_empty_array(self) -> Array:
        """Returns a new array of the same shape, data type and kind, with arbitrary values."""
        return self._module.empty(self.shape, self.dtype)

    def __repr__(self) -> str:
        state = "deleted" if self.was_deleted() else "alive"
        return f"ArrayInfo(shape={self.shape}, dtype={self.dtype}, {state})"


class ScheduleInfo:
    """One call of a function marked with :func:`chainer.static_code`.

    Calling the object calls the function once more, with the same arguments.

    Args:
        func (callable): The function.
        args (tuple): Positional arguments.
        kwargs (dict): Keyword arguments.
        func_name (str): Name for messages. Default: the name of the function.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        func_name: str | None = None,
    ) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.func_name = func_name or getattr(func, "__qualname__", repr(func))

    def __call__(self) -> Any:
        """Calls the function with the arguments."""
        return self.func(*self.args, **self.kwargs)

    def __repr__(self) -> str:
        return f"ScheduleInfo({self.func_name})"


class StaticScheduleFunction(Identity):
    """One call of a static chain: the creator of its results.

    It is the last node of the graph that the chain's functions make, and passes their results and
    gradients on. When the gradients arrive, the iteration of the chain ends.

    Args:
        schedule_manager (ScheduleManager): The manager of the chain.
        verbosity_level (int): See :func:`static_graph`.
        enable_double_backprop (bool): See :func:`static_graph`.

    Attributes:
        chain (~chainer.Chain): The chain, once it is called.
        schedule_info_list (list of ScheduleInfo): Calls of functions marked with ``static_code``.
        unique_arrays (list of ArrayInfo): The arrays of these calls.
    """

    # It does not look at the arrays, so a conversion of their memory layout would be lost time.
    accepts_opaque_arrays = True

    def __init__(
        self,
        schedule_manager: ScheduleManager,
        verbosity_level: int = 0,
        enable_double_backprop: bool = False,
    ) -> None:
        self.schedule_manager = schedule_manager
        self.verbosity_level = verbosity_level
        self.enable_double_backprop = enable_double_backprop
        self.chain: Link | None = None
        self.schedule_info_list: list[ScheduleInfo] = []
        self.unique_arrays: list[ArrayInfo] = []
        self.record: ChainRecord | None = None
        self._count = 0
        self._intermediates: Any = None

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes the results from the arguments if they are recorded; else passes them on."""
        record = self.record
        if record is None:
            return inputs
        outputs, self._intermediates = record.forward(inputs[: self._count])
        return outputs

    def gradients(self, ops: Ops, targets: Indexes, *gys: Value) -> Values:
        """Computes gradients or passes them on, and ends the iteration of the chain."""
        self.schedule_manager.end_forward()
        record = self.record
        if record is None:
            if ops is functions and config.enable_backprop:
                self.schedule_manager.refuse("gradients are differentiated in turn")
            return super().gradients(ops, targets, *gys)
        if ops is not functions:
            found = record.gradients(gys, self._intermediates)
        elif config.enable_backprop:
            raise RuntimeError(
                "gradients of gradients through a static chain that is recorded: use "
                "static_graph(enable_double_backprop=True)"
            )
        else:
            arrays = [None if gy is None else gy.array for gy in gys]
            found = record.gradients(arrays, self._intermediates)
            found = [None if g is None else Variable(g) for g in found]
        of_inputs = dict(zip(record.inputs, found))
        of_parameters = found[len(record.inputs) :]
        count = self._count
        return tuple([of_inputs.get(i) if i < count else of_parameters[i - count] for i in targets])

    def replay(self, record: ChainRecord, in_vars: Sequence[Variable]) -> Any:
        """Applies a record; returns the results as the method returned them."""
        self.record = record
        self._count = len(in_vars)
        # Inputs that no result depends on are not part of the graph.
        given = [x if i in record.inputs else x.array for i, x in enumerate(in_vars)]
        outputs = self.apply((*given, *record.parameters))
        return unflatten(record.result, iter(outputs))

    def is_empty(self) -> bool:
        """Tells whether no call of a function marked with ``static_code`` is recorded."""
        return not self.schedule_info_list

    def append_function(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        func_name: str | None = None,
    ) -> Any:
        """Calls a function marked with ``static_code`` and records the call.

        Args:
            func (callable): The function.
            args (tuple): Positional arguments.
            kwargs (dict): Keyword arguments; the arrays in ``inputs`` and ``outputs`` are known
                from now on.
            func_name (str): Name for messages.

        Returns:
            What the function returns.

        Raises:
            TypeError: If it does not return None, a tuple or a list.
            RuntimeError: If it returns an array that is known already.
        """
        if threads.state.recorder is not None:
            raise NotRecordableError("a function marked with static_code has to run in each call")
        info = ScheduleInfo(func, args, kwargs, func_name)
        for name in ("inputs", "outputs"):
            for array in kwargs.get(name) or ():
                self._add_array(array)
        results = info()
        if results is not None and not isinstance(results, (tuple, list)):
            raise TypeError(
                f"{info.func_name}, which is marked with static_code, must return None or a tuple "
                f"or list of arrays, got {type(results).__name__}"
            )
        for array in cast("Sequence[Array]", results or ()):
            # Memory that two functions write would be overwritten when the calls are replayed.
            if self._knows(array):
                raise RuntimeError(
                    f"{info.func_name}, which is marked with static_code, returned an array that "
                    "other functions use; return a copy, or pass the array as outputs=[array]"
                )
            self._add_array(array)
        self.schedule_info_list.append(info)
        return results

    def _knows(self, array: Array) -> bool:
        return any(info.refers_to(array) for info in self.unique_arrays)

    def _add_array(self, array: Array) -> None:
        if find_backend(type(array)) is not None and not self._knows(array):
            self.unique_arrays.append(ArrayInfo(array))

    def __reduce__(self) -> Any:
        # Copies and pickles of a chain contain the schedule of its last call as an attribute. They
        # start without the graph, the arrays and the functions of that call.
        return (
            StaticScheduleFunction,
            (self.schedule_manager, self.verbosity_level, self.enable_double_backprop),
        )

    def __repr__(self) -> str:
        calls = ", ".join(info.func_name for info in self.schedule_info_list)
        return f"StaticScheduleFunction({type(self.chain).__name__}, static_code: [{calls}])"
