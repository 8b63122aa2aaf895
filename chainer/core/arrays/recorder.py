"""Recorders: how a backend turns a run of a step into a program that repeats it.

:func:`chainer.capture` records a step with the recorder of its backend
(:meth:`~chainer.core.arrays.protocol.Backend.recorder`). One recorder serves one recording:

1. :meth:`Recorder.argument` and :meth:`Recorder.state` give the arrays to run the step with, and
   :meth:`Recorder.number` the numbers. ``capture`` puts these arrays in the places of the
   parameters, of their gradients, of the arrays of links and of the states of update rules.
2. :meth:`Recorder.run` runs the step once, which computes and changes the state as without a
   recorder. Meanwhile ``threads.state.recorder`` is the recorder, so that
   :func:`may_read_values` is False. A recorder that traces computes values afterwards, in ``run``.
3. ``capture`` calls :meth:`Recorder.is_recorded`, :meth:`Recorder.reads` and
   :meth:`Recorder.forget` to find which arrays the step used, and copies arrays by
   :meth:`Recorder.plain`.
4. :meth:`Recorder.program` returns a :class:`Program` that repeats what was recorded. It is called
   once, after all methods of the steps above.

``capture`` owns the Python side: keys, guards, counters, attributes, reports, and the comparison of
the first repetition with a run as written. The recorder owns the array side: the memory of
placeholders, and which calls are repeated. A state array belongs to the user: a program writes
its new value to the array that was given to ``state`` (a backend of immutable arrays changes what
the array object holds). Programs are called by the thread that recorded them, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from chainer.core.arrays.lookup import HOST_FAMILY
from chainer.core.config.configuration import threads
from chainer.core.typing import Array, HostArray

if TYPE_CHECKING:
    from chainer.core.arrays.protocol import Backend


def may_read_values(backend: Backend) -> bool:
    """Returns whether code may let the values of arrays decide what it does.

    Kernels call it before they convert an array to a Python value. On an accelerator the conversion
    would wait for the device. In a recorded step, all later calls would repeat the decision of the
    recorded run.

    Args:
        backend: Backend of the arrays.
    """
    return threads.state.recorder is None and backend.family == HOST_FAMILY


class NotRecordableError(RuntimeError):
    """The step does something that a program cannot repeat; the text says what."""


class VaryingNumber(float):
    """A number that may differ from call to call, or a number computed from such numbers.

    Kernels convert it to an array without axes (:meth:`array`). The array gets the present value
    before each call. Comparisons raise an error, because their result would decide what is
    recorded.

    Attributes:
        origin: The operator's name or the function, and the operands that the number is computed
            from. None for a number that the recorder was asked for.
    """

    origin: tuple[str | Callable[..., Any], tuple[Any, ...]] | None = None
    _evaluate: Callable[[], float]
    #: Numbers computed from this one, together with the other operands.
    _derived: dict[Any, tuple[Any, VaryingNumber]]

    @classmethod
    def of(cls, evaluate: Callable[[], float]) -> Self:
        """Makes the number from the function that computes it."""
        number = cls(evaluate())
        number._evaluate = evaluate
        number._derived = {}
        return number

    def array(self, dtype: Any) -> Any:
        """Returns an array of the given dtype that has the value of the number in each call.

        Args:
            dtype: The dtype.
        """
        raise NotImplementedError(f"{type(self).__name__} must define array()")

    @property
    def source(self) -> Callable[[], float]:
        """The function that computes the present value."""
        return self._evaluate

    def evaluate(self) -> float:
        """Returns the present value."""
        return self._evaluate()

    def combined(self, name: str, function: Callable[..., Any], *others: Any) -> Any:
        """Returns the result of an operator, which is computed anew in each call.

        Args:
            name: Name of the operator.
            function: The operator of plain numbers.
            others: The other operands.
        """
        result = function(self, *others)
        if result is NotImplemented:
            return result

        def evaluate() -> float:
            numbers = [o.evaluate() if isinstance(o, VaryingNumber) else o for o in others]
            return function(self._evaluate(), *numbers)

        # All parameters compute the same product: it is evaluated once in each call.
        key = name, *[id(o) if isinstance(o, VaryingNumber) else float(o) for o in others]
        found = self._derived.get(key)
        if found is None:
            found = self._derived[key] = others, type(self).of(evaluate)
            found[1].origin = name, (self, *others)
        return found[1]

    def mapped(self, function: Callable[[float], float]) -> Self:
        """Applies a function to the number. The result is computed anew in each call.

        Args:
            function: Function that takes a plain number. It may compare numbers.
        """
        key = (function,)
        found = self._derived.get(key)
        if found is None:
            made = type(self).of(lambda: function(self._evaluate()))
            made.origin = function, (self,)
            found = self._derived[key] = (function,), made
        return cast(Self, found[1])


def computed(function: Callable[[float], float], number: float) -> float:
    """Applies a function to a number, which may be a :class:`VaryingNumber`.

    Update rules and their kernels use it where arithmetic is not enough, such as for a comparison.
    A step that is saved to a file may apply functions of :mod:`math`.

    Args:
        function: Function that takes a plain number; the same object at each call.
        number: The number.
    """
    mapped = getattr(number, "mapped", None)
    return function(number) if mapped is None else mapped(function)


def _arithmetic(name: str) -> Callable[..., Any]:
    function = getattr(float, name)

    def method(self: VaryingNumber, *others: Any) -> Any:
        return self.combined(name, function, *others)

    return method


def _comparison(name: str) -> Callable[..., Any]:
    def method(self: VaryingNumber, *others: Any) -> Any:
        if threads.state.recorder is not None:
            raise NotRecordableError("a number that varies, such as a learning rate, is compared")
        return getattr(float, name)(self, *others)

    return method


for _operator in (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow"),
    *("rpow", "neg", "abs"),
):
    setattr(VaryingNumber, f"__{_operator}__", _arithmetic(f"__{_operator}__"))
for _operator in ("lt", "le", "gt", "ge", "eq", "ne", "bool"):
    setattr(VaryingNumber, f"__{_operator}__", _comparison(f"__{_operator}__"))
VaryingNumber.__hash__ = float.__hash__


class MemoryOfPrograms(Protocol):
    """Memory that the programs of a file refer to."""

    def index(self, owner: Array) -> int:
        """Returns the number of a piece of memory, by the array that owns it."""
        ...

    def place_of(self, holder: object, values: HostArray) -> list[Any]:
        """Returns the place of an array that another object than an array of NumPy holds."""
        ...

    def formula(self, number: VaryingNumber) -> object:
        """Returns the formula of a number."""
        ...


class Program:
    """A recorded step.

    Attributes:
        description: Its parts, in words.
        is_exact: Whether its results equal the results of the step as written in every bit. A
            compiler that fuses operations rounds at other places.
    """

    description: str = ""
    is_exact: bool = True

    def __call__(self, arguments: Sequence[Array]) -> list[Array]:
        """Repeats the step.

        Args:
            arguments: Arrays with the same shapes and dtypes as the recorded arguments.

        Returns:
            list: The outputs, as arrays that nothing else refers to. The state is changed in place.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__()")

    def intermediates(self) -> Any:
        """Returns the values that the last call computed for :meth:`Recorder.continued`.

        The default, None, means that the values are in fixed memory, which the next call
        overwrites.
        """
        return None

    def portable(self, memory: MemoryOfPrograms) -> dict[str, Any]:
        """Returns the program as data of JSON, for the file of a step.

        Args:
            memory: The memory that the programs of a step share.

        Raises:
            NotRecordableError: If there is no such form, which is the default.
        """
        raise NotRecordableError("its backend has no form of programs for files")

    def memory_of(self, array: Array) -> tuple[object, HostArray]:
        """Returns what holds the values of an array, and the values, for the file of a step.

        Arrays with the same memory have the same holder. A backend whose programs have a form for
        files, and whose arrays are not NumPy's, defines it.

        Args:
            array: Array of the backend.

        Raises:
            NotRecordableError: If a file cannot hold the array.
        """
        raise NotRecordableError(f"a file of a step cannot hold {type(array).__name__}")

    def set_intermediates(self, values: Any) -> None:
        """Gives the recorded arrays the values of a call.

        Args:
            values: Result of :meth:`intermediates` after the call. None to release the values.
        """


class Recorder:
    """Records one run of a step.

    Attributes:
        is_exact: Whether the recorded run computes the bits of the step as written. Code that works
            another way in recordings, such as a sum of gradients, sets it to False.
    """

    is_exact: bool = True

    def argument(self, array: Array) -> Array:
        """Returns the array that represents an argument. Its values may differ from call to call.

        Args:
            array: The argument of the recorded run. Later calls do not change it.
        """
        raise NotImplementedError(f"{type(self).__name__} must define argument()")

    def state(self, array: Array) -> Array:
        """Returns the array that the step uses in place of an array that it may change in place.

        Args:
            array: The array to replace, such as the array of a parameter. The program reads and
                writes its memory.
        """
        raise NotImplementedError(f"{type(self).__name__} must define state()")

    def number(self, evaluate: Callable[[], float]) -> float:
        """Returns a number whose value may differ from call to call, such as a learning rate.

        Args:
            evaluate: Returns the present value. It is called now, and at the beginning of each call
                of the program.
        """
        raise NotImplementedError(f"{type(self).__name__} must define number()")

    def own(self, array: Array) -> None:
        """Allows the program to keep the values of a state array in other memory.

        ``capture`` calls it for arrays that no other code refers to. See :meth:`moved`. By default
        nothing happens.

        Args:
            array: An array that was or will be passed to :meth:`state`.
        """

    def moved(self) -> Sequence[tuple[Array, Array]]:
        """Returns pairs of a state array and the array in which the program keeps its values.

        ``capture`` calls it after :meth:`program`, and replaces the old arrays by the new ones.
        """
        return ()

    def kept(self) -> str | None:
        """Describes an array of the recording to which other code still refers.

        No program changes such a reference. ``capture`` calls this method after :meth:`program`. A
        static chain calls it after :meth:`run` if it does not use the recording. At that time
        neither of them refers to the recording.

        Returns:
            str: A description of the array. None if there is no such array, or if the recorder does
            not know.
        """
        return None

    def run(self, function: Callable[[], Any]) -> Any:
        """Runs a function and records what it does.

        Args:
            function: The step.

        Raises:
            NotRecordableError: If the step does something that cannot be repeated.
        """
        raise NotImplementedError(f"{type(self).__name__} must define run()")

    def continued(self) -> Recorder | None:
        """Returns a recorder of a second program, which reads results of the first program.

        A static chain records its forward computation with this recorder and its backward
        computation with the second one. It calls this method after :meth:`run` and before
        :meth:`program`, while the graph of the recorded run exists: each call of the first program
        computes the values of the arrays that the graph refers to. The second recorder runs after
        the first program is made, and uses the same arrays.

        Returns:
            Recorder: The second recorder. The default is None: the backend has no such programs,
            and static chains run as they are written.
        """
        return None

    def program(self, outputs: Sequence[Array]) -> Program:
        """Returns the program.

        Args:
            outputs: Arrays that the recorded run computed. Each call of the program returns arrays
                for them.
        """
        raise NotImplementedError(f"{type(self).__name__} must define program()")

    def is_recorded(self, array: object) -> bool:
        """Returns whether an object is an array of the recording.

        Args:
            array: Any object.
        """
        raise NotImplementedError(f"{type(self).__name__} must define is_recorded()")

    def reads(self, array: Array) -> bool:
        """Returns whether the recorded run read or wrote the memory of an array.

        Args:
            array: An array that :meth:`state` returned.
        """
        raise NotImplementedError(f"{type(self).__name__} must define reads()")

    def depends_on(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> bool:
        """Returns whether results of the recorded run depend on the values of some arrays.

        By default, returns whether the run read one of the arrays.

        Args:
            arrays: Arrays that :meth:`state` returned.
            outputs: Arrays that will be passed to :meth:`program`.
        """
        return any([self.reads(array) for array in arrays])

    def forget(self, argument: Array) -> bool:
        """Leaves an argument out of the program if the recorded run did not use it.

        Args:
            argument: An array that :meth:`argument` returned.

        Returns:
            bool: Whether it was left out.
        """
        raise NotImplementedError(f"{type(self).__name__} must define forget()")

    def plain(self, array: Array) -> Array:
        """Returns an ordinary array of the backend with the values of an array of the recording.

        Args:
            array: Array of the recording.
        """
        raise NotImplementedError(f"{type(self).__name__} must define plain()")
