"""A recorded step as a compiled program of XLA."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from chainer.backends.recorder import (
    MemoryOfPrograms,
    NotRecordableError,
    Program,
    VaryingNumber,
)
from chainer_array_api import Array

from chainer_jax.boxes import Box, Holder, Stale, View

if TYPE_CHECKING:
    from chainer_jax.backend import JaxBackend

#: References to a value that only its box holds: the box, a list, the argument of ``getrefcount``.
_OWN_REFERENCES = 3

#: Up to this many numbers are passed to a program one by one; more of them as one array. Converting
#: an array takes as long as converting three numbers: 5 % of a small step on a single core.
_MOST_SCALARS = 2


def pack_numbers(numbers: Sequence[VaryingNumber]) -> list[float] | numpy.ndarray[Any, Any]:
    """Returns the present values of numbers in the form that programs expect."""
    # JAX knows no classes derived from float.
    return pack([float(number.evaluate()) for number in numbers])


def pack(values: list[float]) -> list[float] | numpy.ndarray[Any, Any]:
    """Returns numbers in the form that programs expect."""
    return values if len(values) <= _MOST_SCALARS else numpy.array(values, numpy.float64)


def exported(jax: Any, jaxpr: Any) -> bytes:
    """Returns the bytes of a program, which a process without its Python code reads.

    Args:
        jax: The module.
        jaxpr: The program, as JAX traced it.
    """
    from jax import export

    def program(*values: Any) -> Any:
        return jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *values)

    types = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in jaxpr.in_avals]
    try:
        return bytes(export.export(jax.jit(program))(*types).serialize())
    except (NotImplementedError, TypeError, ValueError) as error:
        raise NotRecordableError(f"jax.export refuses it: {error}") from error


class JaxProgram(Program):
    """A recorded step.

    Args:
        backend: The backend.
        compiled: The compiled function of the values of ``donated`` and ``kept``, the arguments and
            the numbers; it returns the results and the values of ``written``.
        donated: Boxes that are read and written. Their memory is used again.
        kept: Boxes that are only read.
        written: The boxes of ``donated``, then boxes that are only written.
        numbers: Numbers that may differ from call to call.
        count: Number of the results that callers want.
        passed_on: Boxes that another program reads, for the results that follow these; None if
            there is no other program.
        jaxpr: The compiled program, as JAX traced it.
    """

    is_exact = False
    description = "a program of XLA"

    def __init__(
        self,
        backend: JaxBackend,
        compiled: Callable[..., tuple[list[Any], list[Any]]],
        donated: list[Box],
        kept: list[Box],
        written: list[Box],
        numbers: list[VaryingNumber],
        count: int,
        passed_on: list[Box] | None,
        jaxpr: Any,
    ) -> None:
        self._backend, self._compiled = backend, compiled
        self._donated, self._kept, self._numbers = donated, kept, numbers
        self._holder = Holder(written)
        self._count, self._passed_on = count, passed_on
        self._last: list[Any] = []
        self._jaxpr = jaxpr

    def __call__(self, arguments: Sequence[Array]) -> list[Array]:
        """Repeats the step; see :class:`~chainer.backends.recorder.Program`."""
        results = self.all_results(arguments)
        if self._passed_on is not None:
            following = results[self._count : self._count + len(self._passed_on)]
            self._last = [x.node.value for x in following]
        return results[: self._count]

    def all_results(self, arguments: Sequence[Array]) -> list[Array]:
        """Runs the program; returns all results, also those that another program reads."""
        wrap, holder = self._backend.wrap, self._holder
        # XLA computes while Python runs the code after the call. Code before the call adds to the
        # time of a step.
        natives = [wrap(x).native for x in arguments]
        keeps = [box.value for box in self._kept]
        # After these, as an argument may be an array of the state.
        values = holder.values
        gives = self._collect() if values is None else values[: len(self._donated)]
        outputs, values = self._compiled(gives, keeps, natives, pack_numbers(self._numbers))
        holder.hold(values)
        return [*map(self._backend.array_class, outputs)]

    def _collect(self) -> list[Any]:
        """Returns the values of the donated boxes, whose memory the program may reuse.

        A value that something besides its box refers to must survive (copies share values), so it
        is copied. All others are passed as they are.
        """
        gives = [box.value for box in self._donated]
        counts = [*map(sys.getrefcount, gives)]
        copy = self._backend.nx.copy
        return [
            copy(value) if count > _OWN_REFERENCES else value
            for value, count in zip(gives, counts, strict=True)
        ]

    def portable(self, memory: MemoryOfPrograms) -> dict[str, Any]:
        """See :meth:`Program.portable`; the program is exported by ``jax.export``."""
        if self._passed_on is not None:
            raise NotRecordableError("it is one of two programs of a static chain")
        data = numpy.frombuffer(exported(self._backend.jax, self._jaxpr), numpy.uint8)
        read, written = [*self._donated, *self._kept], self._holder.live_boxes()
        return {
            "backend": self._backend.name,
            "program": memory.place_of(self._jaxpr, data),
            "read": [memory.place_of(box, self._host(box)) for box in read],
            "written": [memory.place_of(box, self._host(box)) for box in written],
            "numbers": [memory.formula(number) for number in self._numbers],
        }

    def memory_of(self, array: Array) -> tuple[object, numpy.ndarray[Any, Any]]:
        """See :meth:`Program.memory_of`."""
        box = self._backend.same(array).node
        while isinstance(box, View) and box.is_whole:
            box = box.parent
        if not isinstance(box, Box):
            raise NotRecordableError("a state is a view of another array")
        return box, self._host(box)

    def _host(self, box: Box) -> numpy.ndarray[Any, Any]:
        return numpy.asarray(box.value)

    def intermediates(self) -> list[Any] | None:
        """See :meth:`Program.intermediates`."""
        last, self._last = self._last, []
        return None if self._passed_on is None else last

    def set_intermediates(self, values: list[Any] | None) -> None:
        """See :meth:`Program.set_intermediates`."""
        for i, box in enumerate(self._passed_on or ()):
            box.value = Stale() if values is None else values[i]
