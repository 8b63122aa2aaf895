"""A recorded step as a compiled program of XLA."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from chainer.backends.recorder import Program, VaryingNumber
from chainer_array_api import Array

from chainer_jax.boxes import Box, Holder, Stale

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
    values = [float(number.evaluate()) for number in numbers]
    return values if len(values) <= _MOST_SCALARS else numpy.array(values, numpy.float64)


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
    ) -> None:
        self._backend, self._compiled = backend, compiled
        self._donated, self._kept, self._numbers = donated, kept, numbers
        self._holder = Holder(written)
        self._count, self._passed_on = count, passed_on
        self._last: list[Any] = []

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

    def intermediates(self) -> list[Any] | None:
        """See :meth:`Program.intermediates`."""
        last, self._last = self._last, []
        return None if self._passed_on is None else last

    def set_intermediates(self, values: list[Any] | None) -> None:
        """See :meth:`Program.set_intermediates`."""
        for i, box in enumerate(self._passed_on or ()):
            box.value = Stale() if values is None else values[i]
