"""Comparison of a record with the step as written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy

from chainer.core.arrays.backend import backend_of, copyto, is_array
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.config.blas_threads import unchanged_threads
from chainer.core.typing import Array, DType, HostArray, Shape, VariableLike
from chainer.training.capturing.snapshot import Snapshot
from chainer.training.capturing.state import PLAIN, Kind, array_of


@dataclass(frozen=True)
class Values:
    """The values of an array at some time.

    Attributes:
        shape: Its shape.
        dtype: Its dtype.
        data: Its bytes, or a digest of them.
    """

    shape: Shape
    dtype: DType
    data: bytes

    @classmethod
    def of(cls, x: VariableLike | None, is_exact: bool) -> Values | None:
        """Returns the values of an array or a Variable; None for None and an empty Variable.

        Args:
            x: The array or the Variable.
            is_exact: Whether values are compared bit by bit, so that a digest is enough.
        """
        array = array_of(x)
        if array is None:
            return None
        host = numpy.ascontiguousarray(backend_of(array).to_host(array))
        if not is_exact:
            return cls(host.shape, host.dtype, host.tobytes())
        # A digest instead of a copy: the state may be as large as memory allows. Of bytes, because
        # Python's buffers know no bfloat16.
        data = hashlib.blake2b(host.reshape(-1).view(numpy.uint8).data).digest()
        return cls(host.shape, host.dtype, data)

    def array(self) -> HostArray:
        """Returns the values as an array of float64."""
        return numpy.frombuffer(self.data, self.dtype).astype(numpy.float64)

    def has_roundings(self, other: object) -> bool:
        """Returns whether other values may differ from these by roundings."""
        return (
            isinstance(other, Values)
            and (self.shape, self.dtype) == (other.shape, other.dtype)
            and self.dtype.kind == "f"
        )


Found = dict[str, object]


def values_of(what: str, arrays: Iterable[VariableLike | None], is_exact: bool) -> Found:
    """Returns the values of arrays by names for messages.

    Args:
        what: Name of all of them.
        arrays: Arrays and Variables.
        is_exact: See :class:`Values`.
    """
    return {f"{what} {i}": Values.of(a, is_exact) for i, a in enumerate(arrays)}


def state_values(before: Snapshot, is_exact: bool) -> Found:
    """Returns the present values of slots, reports and random numbers, by names for messages.

    Args:
        before: A snapshot of the same slots.
        is_exact: See :class:`Values`.
    """
    tree = before.tree.again()
    numbers = {owner.identity: i for i, owner in enumerate(tree.owners)}
    found: Found = {}
    for slot in tree.of_kind(Kind.PLAIN, Kind.COUNT, Kind.ARRAY, Kind.VARIABLE, Kind.DATA):
        name = "the array" if slot.kind is Kind.DATA else repr(slot.name)
        value: Any = slot.value
        found[f"{name} of {slot.owner.label} ({numbers[slot.owner.identity]})"] = (
            value if isinstance(value, PLAIN) else Values.of(value, is_exact)
        )
    if before.reporter is not None:
        for key, value in before.reporter.observation.items():
            array = array_of(value)
            told = Values.of(array, is_exact) if is_array(array) else repr(array)
            found[f"reported value {key!r}"] = told
    _, keys, *rest = cast("tuple[Any, ...]", numpy.random.get_state())
    found["random numbers"] = keys.tobytes(), rest
    return found


def difference(
    before: Snapshot,
    repeat: Callable[[], Found],
    write: Callable[[], Found],
    is_exact: bool,
    what: str = "step as written",
) -> str | None:
    """Runs a record and the step as written from the same state, and compares what they change.

    The state is then as the step as written leaves it.

    Args:
        before: The state.
        repeat: Runs the record; returns values of results.
        write: Runs the step as written; returns values of results.
        is_exact: Whether all values have to agree bit by bit. Otherwise they may differ by some
            roundings.
        what: Name of the recorded code, for the message.

    Returns:
        str: The name of a value that differs; None if there is none.
    """
    try:
        with unchanged_threads():
            return _different(before, repeat, write, is_exact, what)
    except BaseException as error:
        # An error is one of the program, and the state is as its code has left it.
        if not isinstance(error, Exception):  # such as Ctrl-C
            before.restore()
        raise


def _different(
    before: Snapshot,
    repeat: Callable[[], Found],
    write: Callable[[], Found],
    is_exact: bool,
    what: str,
) -> str | None:
    try:
        recorded = repeat()
        recorded |= state_values(before, is_exact)
    except Exception as error:
        before.restore()
        write()
        return f"{type(error).__name__}: {error}"
    before.restore()
    written = write() | state_values(before, is_exact)
    names = [
        name for name, value in written.items() if not are_same(recorded.get(name), value, is_exact)
    ]
    if names and not is_exact:
        names = _not_rounded(before, names, recorded, written, write)
    return f"{names[0]} differs from that of the {what}" if names else None


def are_same(first: object, second: object, is_exact: bool) -> bool:
    """Returns whether two values are the same.

    Args:
        first: Value.
        second: Value.
        is_exact: Whether floating-point arrays have to agree bit by bit. Otherwise they may differ
            by some roundings, relative to the largest element.
    """
    if first == second:
        return True
    if is_exact or not isinstance(first, Values) or not isinstance(second, Values):
        return first != first and second != second  # NaN equals nothing
    if not first.has_roundings(second):
        return False
    # At most some percent, so that a comparison in float16 means something.
    tolerance = min(float(numpy.finfo(first.dtype).eps) * 1000, 0.02)
    a, b = first.array(), second.array()
    # A bias before batch normalization has no gradient but roundings: they must not be compared.
    scale = float(numpy.max(numpy.abs(b), initial=0.01))
    return numpy.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def _not_rounded(
    before: Snapshot,
    names: list[str],
    recorded: Found,
    written: Found,
    write: Callable[[], Found],
) -> list[str]:
    """Returns the names of values whose differences roundings do not explain.

    Some steps enlarge roundings: Adam makes steps of full length of the gradient of a bias before
    batch normalization, which is zero but for roundings. How much roundings matter is tried: the
    step runs as written with parameters that differ by one rounding each.
    """
    after = Snapshot(before.tree, before.reporter)
    before.restore()
    for parameter in before.tree.parameters:
        if parameter.array is not None and kind_of(parameter.array.dtype) == "f":
            _round(parameter.array)
    rounded = write() | state_values(before, False)
    after.restore()
    return [
        name
        for name in names
        if not _are_as_near(recorded.get(name), written.get(name), rounded.get(name))
    ]


def _round(array: Array) -> None:
    """Changes each element of an array by about one rounding."""
    backend = backend_of(array)
    eps = float(backend.xp.finfo(array.dtype).eps)
    # By NumPy: elsewhere, each shape may be several programs to compile.
    host = backend.to_host(array)
    # Of both signs and several sizes, so that sums change, too.
    factors = 1 + (numpy.arange(host.size) % 7 - 3) * eps
    copyto(array, host * factors.reshape(host.shape).astype(host.dtype))


def _are_as_near(recorded: object, written: object, rounded: object) -> bool:
    """Returns whether the record is as near to the step as written as the rounded run is."""
    if not isinstance(written, Values):
        return False
    rounded = written if rounded is None else rounded
    if not written.has_roundings(recorded) or not written.has_roundings(rounded):
        return False
    a, b, c = [v.array() for v in (recorded, written, rounded) if isinstance(v, Values)]
    # Of the whole array: by chance, an element may be the same in two of the runs.
    return bool(
        numpy.max(numpy.abs(a - b), initial=0) <= 4 * numpy.max(numpy.abs(c - b), initial=0)
    )
