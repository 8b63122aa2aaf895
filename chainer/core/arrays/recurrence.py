"""Recurrences: steps of a recurrent layer that a kernel makes in one call, in captured steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

#: The name of an argument that may be anything, and that the method does not get.
ANYTHING = "_"


class StepCall(NamedTuple):
    """One of the calls of a step of a :class:`Recurrence`.

    Attributes:
        name: Operation and method, such as ``'linear.forward'``, or ``'numpy.add'``, whose
            arguments may change places.
        arguments: A name for each argument: the same name is the same array in all calls of the
            step. ``None`` is an argument that is None, and ``'_'`` may be anything.
        results: Name of the result, or a tuple of names if the method returns a tuple.

    Example:
        >>> from chainer.kernel import StepCall
        >>> StepCall("numpy.add", ("x", "product"), "sources").results
        'sources'
    """

    name: str
    arguments: tuple[str | None, ...]
    results: str | tuple[str, ...]

    def names_of_results(self) -> tuple[str, ...]:
        """Returns the names of all results."""
        return (self.results,) if isinstance(self.results, str) else self.results


@dataclass(frozen=True)
class Recurrence:
    """Calls that a step of a recurrent layer makes, for a kernel that makes all steps in one call.

    Kernels list them in an attribute ``recurrences``. A captured step looks for these calls again
    and again, each time with results of the time before, and lets the kernel make all of them if
    one of the calls of a step is its own, if nothing that happens between the steps depends on one
    and is needed by a later one, and with providers whose results may be rounded elsewhere
    (``chainer.config.accelerate``).

    The method gets a dictionary with an array for each step under each name: of ``fixed`` and of
    carried ones there is only the first. Arrays of ``results`` are to be written; there is None in
    place of one that no other call reads. A carried array may be None in the first step where a
    call gets None. The arrays stay where they are: the method returns a function without arguments,
    which makes all steps and is called in each repetition.

    The captured step is compared with the step as written before it is used.

    Attributes:
        calls: The calls of a step, in order. Each but the first one gets a result of one before.
        carried: For names of results, the name that the array has in the next step.
        fixed: Names of arrays that are the same in all steps.
        results: Names of the results that other calls may read, and no others.
        method: Name of the method of the kernel.
        supports: Name of a method of the kernel that gets the dictionary with an
            :class:`ArraySpec` in place of each array, and returns whether the kernel makes these
            steps.

    Raises:
        TypeError: If one of ``calls`` is not a :class:`StepCall`.
        ValueError: If there are no calls, or names do not fit together.

    Example:
        A kernel of a layer whose output is the sum of all inputs so far:

        >>> from chainer.kernel import Recurrence, StepCall
        >>> class SoftplusKernel:
        ...     recurrences = (
        ...         Recurrence(
        ...             calls=(
        ...                 StepCall("numpy.add", ("h", "x"), "total"),
        ...                 StepCall("softplus.forward", ("total", "_"), "y"),
        ...             ),
        ...             carried={"y": "h"},
        ...             fixed=(),
        ...             results=("y",),
        ...             method="all_steps",
        ...             supports="supports_steps",
        ...         ),
        ...     )
        >>> SoftplusKernel.recurrences[0].inputs
        ('x',)
    """

    calls: tuple[StepCall, ...]
    carried: Mapping[str, str]
    fixed: tuple[str, ...]
    results: tuple[str, ...]
    method: str
    supports: str

    def __post_init__(self) -> None:
        given = cast("tuple[Any, ...]", self.calls)  # without a type checker, of any type
        wrong = [call for call in given if not isinstance(call, StepCall)]
        if wrong:
            raise TypeError(f"calls of a Recurrence must be StepCall objects, got {wrong[0]!r}")
        if not self.calls:
            raise ValueError("calls of a Recurrence must be one or more, got none")
        read, made = self._read(), self._made()
        for name in (*self.carried, *self.results):
            if name not in made:
                raise ValueError(f"{name!r} of a Recurrence is not the result of one of its calls")
        for name in (*self.carried.values(), *self.fixed):
            if name not in read:
                raise ValueError(
                    f"{name!r} of a Recurrence is not an argument of one of its calls, or one of "
                    "them makes it"
                )
        if not self.carried:
            raise ValueError("carried of a Recurrence must name a result or more, got none")

    def _read(self) -> list[str]:
        made = self._made()
        names = [a for call in self.calls for a in call.arguments]
        return list(dict.fromkeys([n for n in names if n not in (None, ANYTHING, *made)]))  # type: ignore[misc]

    def _made(self) -> list[str]:
        return [name for call in self.calls for name in call.names_of_results()]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arrays that each step reads, and that no step makes for the next one."""
        others = {*self.carried.values(), *self.fixed}
        return tuple([name for name in self._read() if name not in others])
