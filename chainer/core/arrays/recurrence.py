"""Recurrences: steps of a recurrent layer that a kernel makes in one call, in captured steps."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy

from chainer.core.registry import registries

#: The name of an argument that may be anything, and that the method does not get.
ANYTHING = "_"


class StepCall(NamedTuple):
    """One of the calls of a step of a :class:`Recurrence`.

    Attributes:
        name: Operation and method, such as ``'linear.forward'``, or ``'numpy.add'``, whose
            arguments may change places.
        arguments: A name for each argument: the same name is the same array in all calls of the
            step. ``None`` is an argument that is None, ``'_'`` may be anything, and a number is an
            array without axes that holds it.
        results: Name of the result, or a tuple of names if the method returns a tuple.

    Example:
        >>> from chainer.kernel import StepCall
        >>> StepCall("numpy.add", ("x", "product"), "sources").results
        'sources'
    """

    name: str
    arguments: tuple[str | float | None, ...]
    results: str | tuple[str, ...]

    def names_of_results(self) -> tuple[str, ...]:
        """Returns the names of all results."""
        return (self.results,) if isinstance(self.results, str) else self.results


class Part(NamedTuple):
    """An array that lies within another one of the same step.

    Attributes:
        of: Name of the other array, whose elements lie one after the other.
        offset: The element of that array that is the first one.
        shape: Shape.
        strides: Number of elements from an index of each axis to the next one.

    Example:
        >>> from chainer.kernel import Part
        >>> Part("gates", 0, (20, 200), (800, 4)).of
        'gates'
    """

    of: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


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
            steps: True, False, or the reason why it does not.
        parts: Names of arrays that lie within others, which the dictionary has instead. Several
            calls may write parts of one array. Steps that no kernel declares have them.

    Raises:
        TypeError: If one of ``calls`` is not a :class:`StepCall`, or another attribute is of the
            wrong type.
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
    parts: Mapping[str, Part] = field(default_factory=dict[str, Part])

    def __post_init__(self) -> None:
        self._check_types()
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

    def _check_types(self) -> None:
        """Raises TypeError for values that only a type checker would refuse otherwise."""
        given: dict[str, Any] = vars(self)
        for name in ("calls", "fixed", "results"):
            # A text is a sequence, too: of its characters.
            if not isinstance(given[name], (tuple, list)):
                raise TypeError(f"{name} of a Recurrence must be a tuple, got {given[name]!r}")
        if not isinstance(given["carried"], Mapping):
            raise TypeError(f"carried of a Recurrence must be a dict, got {given['carried']!r}")
        for name in ("method", "supports"):
            if not isinstance(given[name], str):
                raise TypeError(
                    f"{name} of a Recurrence must be the name of a method, got {given[name]!r}"
                )
        for call in given["calls"]:
            if not isinstance(call, StepCall):
                raise TypeError(f"calls of a Recurrence must be StepCall objects, got {call!r}")
            _check_call(call)

    def _read(self) -> list[str]:
        made = self._made()
        names = [a for call in self.calls for a in call.arguments]
        texts = [self.whole(name) for name in names if isinstance(name, str)]
        return list(dict.fromkeys([name for name in texts if name not in (ANYTHING, *made)]))

    def _made(self) -> list[str]:
        return [self.whole(name) for call in self.calls for name in call.names_of_results()]

    def whole(self, name: str) -> str:
        """Returns the name of the array in which an array lies; its own name if it is not a part.

        Args:
            name: Name of an array of a call.
        """
        return self.parts[name].of if name in self.parts else name

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arrays that each step reads, and that no step makes for the next one."""
        others = {*self.carried.values(), *self.fixed}
        return tuple([name for name in self._read() if name not in others])


def _check_call(call: Any) -> None:
    if not isinstance(call.name, str) or call.name.count(".") != 1:
        raise TypeError(
            "name of a StepCall must be the name of an operation and of its method, such as "
            f"'linear.forward', or of a ufunc, such as 'numpy.add', got {call.name!r}"
        )
    arguments: Any = call.arguments
    if not isinstance(arguments, (tuple, list)) or not _are_texts(arguments, str | float | None):
        raise TypeError(
            f"arguments of the StepCall {call.name!r} must be a tuple of names and None, or "
            f"numbers of type float, got {arguments!r}"
        )
    results: Any = call.results
    if not isinstance(results, str) and not (isinstance(results, tuple) and _are_texts(results)):
        raise TypeError(
            f"results of the StepCall {call.name!r} must be a name or a tuple of names, got "
            f"{results!r}"
        )


def _are_texts(names: Any, kind: Any = str) -> bool:
    return all([isinstance(name, kind) for name in names])


def recurrences_of(kernel: Any) -> tuple[Recurrence, ...]:
    """Returns what a kernel declares in its attribute ``recurrences``.

    Args:
        kernel: The kernel.

    Raises:
        TypeError: If the attribute is not a tuple of :class:`Recurrence` objects, or the kernel
            lacks a method that one of them names.
        ValueError: If one of them names a call that does not exist.
    """
    found: Any = getattr(kernel, "recurrences", ())
    where = f"recurrences of the kernel {type(kernel).__qualname__}"
    if not isinstance(found, (tuple, list)):
        raise TypeError(f"{where} must be a tuple of Recurrence objects, got {found!r}")
    declared: list[Recurrence] = []
    for each in cast("tuple[Any, ...]", found):
        if not isinstance(each, Recurrence):
            raise TypeError(f"{where} must be Recurrence objects, got {each!r}")
        if each.parts:
            raise ValueError(f"{where}: parts must be empty, got {dict(each.parts)!r}")
        declared.append(each)
    for recurrence in declared:
        for role in ("method", "supports"):
            name = getattr(recurrence, role)
            if not callable(getattr(kernel, name, None)):
                raise TypeError(f"{where}: {role} is {name!r}, and the kernel has no such method")
        for call in recurrence.calls:
            if not _exists(call.name):
                raise ValueError(
                    f"{where}: {call.name!r} is neither a method of an operation nor a ufunc of "
                    "NumPy"
                )
    return tuple(declared)


def _exists(name: str) -> bool:
    owner, _, method = name.partition(".")
    if owner == "numpy":
        return isinstance(getattr(numpy, method, None), numpy.ufunc)
    entry = registries.operations.find(owner)
    return entry is not None and method in entry.load().methods


def step_calls_of(kernel: Any) -> frozenset[str]:
    """Returns the names of the calls of which a kernel makes steps that no kernel declares.

    Args:
        kernel: Kernel of ``native_loops``. It lists them in an attribute ``step_calls``.

    Raises:
        TypeError: If the attribute is not a set of names, or the kernel lacks a method.
        ValueError: If one of the calls does not exist.
    """
    none: frozenset[str] = frozenset()
    found: Any = getattr(kernel, "step_calls", none)
    where = f"step_calls of the kernel {type(kernel).__qualname__}"
    if not isinstance(found, (set, frozenset)) or not _are_texts(found):
        raise TypeError(f"{where} must be a set of names of calls, got {found!r}")
    names = frozenset(cast("set[str]", found))
    for method in ("supports_steps", "all_steps") if names else ():
        if not callable(getattr(kernel, method, None)):
            raise TypeError(f"{where}: the kernel has no method {method!r}")
    for name in sorted(names):
        if name.count(".") != 1 or not _exists(name):
            raise ValueError(
                f"{where}: {name!r} is neither a method of an operation nor a ufunc of NumPy"
            )
    return names


def supports_steps(
    kernel: Any, recurrence: Recurrence, specs: Mapping[str, Any], given: tuple[Any, ...] = ()
) -> bool:
    """Returns whether a kernel makes the steps of a layer.

    Args:
        kernel: The kernel.
        recurrence: What it declares.
        specs: Descriptions of the arrays of each step, by their names.
        given: Arguments of the method before these.

    Raises:
        TypeError: If the kernel returns neither a truth value nor a reason.
    """
    with named(kernel, recurrence.supports):
        answer: Any = getattr(kernel, recurrence.supports)(*given, specs)
    # As for kernels: a text is the reason why not.
    if isinstance(answer, str):
        return False
    if isinstance(answer, (bool, numpy.bool)):
        return bool(cast(Any, answer))
    raise TypeError(
        f"{recurrence.supports}() of the kernel {type(kernel).__qualname__} must return True, "
        f"False or a reason, got {answer!r}"
    )


def all_steps(
    kernel: Any, method: str, arrays: Mapping[str, Any], given: tuple[Any, ...] = ()
) -> Callable[[], None]:
    """Returns the function that makes all steps of a layer.

    Args:
        kernel: The kernel.
        method: Name of its method.
        arrays: Arrays of each step, by their names.
        given: Arguments of the method before these.

    Raises:
        TypeError: If the method does not return a function.
    """
    with named(kernel, method):
        run: Any = getattr(kernel, method)(*given, arrays)
    if not callable(run):
        raise TypeError(
            f"{method}() of the kernel {type(kernel).__qualname__} must return a function without "
            f"arguments, which makes all steps, got {run!r}"
        )

    def call() -> None:
        with named(kernel, method, "what was returned by "):
            run()

    return call


@contextlib.contextmanager
def named(kernel: Any, method: str, part: str = "") -> Generator[None]:
    """Makes errors tell which method of a kernel they come from.

    Args:
        kernel: The kernel.
        method: Name of its method.
        part: Text before the name.

    Raises:
        RuntimeError: Instead of the error of the method, whose type and text it has.
    """
    try:
        yield
    except (FloatingPointError, MemoryError):
        # Of the numbers or the machine, not of the kernel: programs expect these.
        raise
    except Exception as error:
        raise RuntimeError(
            f"{part}{method}() of the kernel {type(kernel).__qualname__}, which makes all steps of "
            f"a layer in one call, raised {type(error).__name__}: {error}"
        ) from error
