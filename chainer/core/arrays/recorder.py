"""Recorders: how a backend turns a run of a step into a program that repeats it.

:func:`chainer.capture` records a step with the recorder of its backend
(:meth:`~chainer.core.arrays.protocol.Backend.recorder`). One recorder serves one recording:

1. :meth:`Recorder.argument` and :meth:`Recorder.state` give the arrays to run the step with, and
   :meth:`Recorder.number` the numbers. ``capture`` puts these arrays in the places of the
   parameters, of their gradients, of the arrays of links and of the states of update rules.
2. :meth:`Recorder.run` runs the step once, which computes and changes the state as without a
   recorder. Meanwhile ``threads.state.recorder`` is the recorder, so that
   :func:`may_read_values` is False. A recorder that traces computes values afterwards, in ``run``.
3. ``capture`` asks :meth:`Recorder.is_recorded`, :meth:`Recorder.reads` and
   :meth:`Recorder.forget` about what the step left, and takes copies by :meth:`Recorder.plain`.
4. :meth:`Recorder.program` returns a :class:`Program` that repeats what was recorded. It is called
   once, and no other method afterwards.

``capture`` owns the Python side: keys, guards, counters, attributes, reports, and the comparison of
the first repetition with a run as written. The recorder owns the array side: the memory of
placeholders, and which calls are repeated. A state array belongs to the user: a program writes
its new value to the array that was given to ``state`` (a backend of immutable arrays changes what
the array object holds). Programs are called by the thread that recorded them, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from chainer.core.arrays.lookup import HOST_FAMILY
from chainer.core.config.configuration import threads
from chainer.core.typing import Array

if TYPE_CHECKING:
    from chainer.core.arrays.protocol import Backend


def may_read_values(backend: Backend) -> bool:
    """Returns whether code may let the values of arrays decide what it does.

    Kernels ask it before they convert an array to a Python value. On an accelerator that would mean
    waiting, and in a recorded step the decision would be that of the recorded run for ever.

    Args:
        backend: Backend of the arrays.
    """
    return threads.state.recorder is None and backend.family == HOST_FAMILY


class NotRecordableError(RuntimeError):
    """The step does something that a program cannot repeat; the text says what."""


class VaryingNumber(float):
    """A number that may differ from call to call, and numbers computed from it.

    Kernels make arrays without axes of it (:meth:`array`), which are filled anew before each call.
    A comparison would decide what is recorded, and is refused.
    """

    _evaluate: Callable[[], float]
    #: Numbers computed from this one, with the other operands.
    _derived: dict[Any, tuple[Any, VaryingNumber]]

    @classmethod
    def of(cls, evaluate: Callable[[], float]) -> Self:
        """Returns the number that a function computes now."""
        number = cls(evaluate())
        number._evaluate = evaluate
        number._derived = {}
        return number

    def array(self, dtype: Any) -> Any:
        """Returns the array of a dtype that has the value of the number in each call.

        Args:
            dtype: The dtype.
        """
        raise NotImplementedError(f"{type(self).__name__} must define array()")

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
        return found[1]

    def mapped(self, function: Callable[[float], float]) -> Self:
        """Returns a function of the number, which is computed anew in each call.

        Args:
            function: Function of plain numbers. It may compare them.
        """
        key = (function,)
        found = self._derived.get(key)
        if found is None:
            made = type(self).of(lambda: function(self._evaluate()))
            found = self._derived[key] = (function,), made
        return cast(Self, found[1])


def computed(function: Callable[[float], float], number: float) -> float:
    """Returns a function of a number, which may be one that varies.

    Kernels of update rules use it where arithmetic is not enough, such as for a comparison.

    Args:
        function: Function of plain numbers; the same object at each call.
        number: The number.
    """
    return number.mapped(function) if isinstance(number, VaryingNumber) else function(number)


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


class Program:
    """A recorded step.

    Attributes:
        description: What it consists of, in words.
        is_exact: Whether it computes every bit as the step as written. A compiler that fuses
            operations rounds at other places.
    """

    description: str = ""
    is_exact: bool = True

    def __call__(self, arguments: Sequence[Array]) -> list[Array]:
        """Repeats the step.

        Args:
            arguments: Arrays of the shapes and dtypes of those that were recorded.

        Returns:
            list: The outputs, in arrays that nothing else refers to. The state is changed in place.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__()")

    def intermediates(self) -> Any:
        """Returns what the last call computed for the second program (:meth:`Recorder.continued`).

        None, the default, tells that it is in fixed memory, which the next call overwrites.
        """
        return None

    def set_intermediates(self, values: Any) -> None:
        """Gives the recorded arrays the values of a call.

        Args:
            values: What :meth:`intermediates` returned after the call. None to release the values.
        """


class Recorder:
    """Records one run of a step."""

    def argument(self, array: Array) -> Array:
        """Returns the array that represents an argument; each call may have other values there.

        Args:
            array: The argument of the recorded run. It is not changed by later calls.
        """
        raise NotImplementedError(f"{type(self).__name__} must define argument()")

    def state(self, array: Array) -> Array:
        """Returns the array to be used in place of one that the step may change in place.

        Args:
            array: The array, such as that of a parameter. The program reads and writes its memory.
        """
        raise NotImplementedError(f"{type(self).__name__} must define state()")

    def number(self, evaluate: Callable[[], float]) -> float:
        """Returns a number whose value may be another one in each call, such as a learning rate.

        Args:
            evaluate: Returns its present value. It is called now, and at the begin of each call of
                the program.
        """
        raise NotImplementedError(f"{type(self).__name__} must define number()")

    def own(self, array: Array) -> None:
        """Tells that nothing but the program needs a state array to stay the same object.

        The program may then keep the values in other memory, see :meth:`moved`. By default nothing
        happens.

        Args:
            array: An array that was or will be given to :meth:`state`.
        """

    def moved(self) -> Sequence[tuple[Array, Array]]:
        """Returns the state arrays that the program keeps in other memory, each with the new one.

        ``capture`` asks after :meth:`program`, and puts the new arrays in the places of the old.
        """
        return ()

    def kept(self) -> str | None:
        """Returns what the step left of the recording in places that no program changes.

        ``capture`` asks after :meth:`program`, a static chain after :meth:`run` of a recording that
        it does not use; nothing of their own refers to the recording then.

        Returns:
            str: A description of an array that is still referred to. None if there is none, or
            if the recorder cannot tell.
        """
        return None

    def run(self, function: Callable[[], Any]) -> Any:
        """Runs a function while what it does is recorded.

        Args:
            function: The step.

        Raises:
            NotRecordableError: If the step does something that cannot be repeated.
        """
        raise NotImplementedError(f"{type(self).__name__} must define run()")

    def continued(self) -> Recorder | None:
        """Returns a recorder of a second program, which reads what the first one computes.

        A static chain records its forward computation and, with the recorder that is returned, its
        backward computation. It asks after :meth:`run` and before :meth:`program`, while the graph
        of the recorded run is there: each call of the first program computes the values of the
        arrays that the graph refers to. The second recorder runs after the first program is made,
        and uses the same arrays.

        Returns:
            Recorder: The recorder. None, the default, if the backend has no such programs; static
            chains then run as they are written.
        """
        return None

    def program(self, outputs: Sequence[Array]) -> Program:
        """Returns the program.

        Args:
            outputs: Arrays that the recorded run computed, and that each call has to return.
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
        """Returns whether what the recorded run computed depends on the values of arrays.

        By default, whether it read one of them.

        Args:
            arrays: Arrays that :meth:`state` returned.
            outputs: What will be given to :meth:`program`.
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
        """Returns an array of the backend with the values of one of the recording.

        Args:
            array: Array of the recording.
        """
        raise NotImplementedError(f"{type(self).__name__} must define plain()")
