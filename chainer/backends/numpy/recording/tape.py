"""The tape: calls of NumPy, kept with the memory that they read and write.

While a step is recorded, its arrays are of the class :class:`TapeArray`, a subclass of
``numpy.ndarray``. Every call that gets one is made, and put on the tape with its arrays and with
its result as output. The arrays keep their memory, so that the calls can be repeated. A view needs
no call: it shows whatever its memory holds.
"""

from __future__ import annotations

import enum
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy

from chainer.backends.numpy.recording.memory import Buffers, Held, Opaque, Ref, references, root
from chainer.core.arrays.recorder import NotRecordableError, VaryingNumber

_ndarray = numpy.ndarray
_Generic: Any = numpy.generic


class TapeNumber(VaryingNumber):
    """A number of a recorded step: an array without axes, which is filled before each call."""

    def array(self, dtype: Any) -> Any:
        """Returns an array of a given dtype that holds the value of the number at each call."""
        tape = current.tape
        if tape is None:
            return numpy.array(float(self), dtype)
        key = id(self), numpy.dtype(dtype)
        found = tape.numbers.get(key)
        if found is None:
            array = numpy.array(float(self), dtype)
            found = tape.numbers[key] = (self, array)
        return found[1]


class Kind(enum.Enum):
    """How a recorded call gives its result."""

    #: A ufunc, or a method of one such as ``reduce``; its results are written to ``out``.
    UFUNC = enum.auto()
    #: Another function of NumPy that writes its result to ``out``.
    OUT = enum.auto()
    #: A function whose result is copied to ``out``.
    ASSIGN = enum.auto()
    #: A function that writes to its arguments.
    WRITE = enum.auto()
    #: A method of a kernel. Its results are copied to ``out``, or later calls get them as they are;
    #: see :mod:`~.recording.kept_results`.
    WHOLE = enum.auto()
    #: An update of a parameter by a kernel; see :mod:`~.recording.flat_updates`.
    UPDATE = enum.auto()
    #: A native function in place of several calls; see :mod:`~.recording.native_loops`.
    NATIVE = enum.auto()


Errors = tuple[tuple[str, str], ...]


class Call:
    """A recorded call.

    Attributes:
        kind: How it gives its result.
        function: Function that is called.
        args: Arguments, with references in place of arrays.
        kwargs: Keyword arguments, without ``out``.
        out: References to what it writes, in a tuple or nested tuples; None if it writes to its
            arguments.
        errors: How the step has floating-point errors treated here, as far as it changes that
            (:func:`numpy.errstate`): pairs of a kind of error and the treatment.
    """

    __slots__ = ("args", "errors", "function", "kind", "kwargs", "out")

    def __init__(
        self,
        kind: Kind,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        out: Any,
        errors: Errors = (),
    ) -> None:
        self.errors = errors
        self.kind = kind
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.out = out

    def references(self) -> Iterator[Ref]:
        """Yields all references of the call."""
        yield from references((self.args, self.kwargs, self.out))


def floating_point_errors() -> dict[str, str]:
    """Returns how NumPy treats each kind of floating-point error now."""
    return cast("dict[str, str]", numpy.geterr())


class Tape:
    """The calls of one recording.

    Attributes:
        calls: The calls, in order.
        numbers: Numbers and the arrays that hold their values, by number and dtype.
        buffers: The memory that calls refer to.
        arrays: Weak references to the arrays that the step got.
        errors: How floating-point errors are treated when the step begins.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.numbers: dict[Any, tuple[TapeNumber, Any]] = {}
        self.buffers = Buffers()
        self.errors = floating_point_errors()
        self.arrays: weakref.WeakValueDictionary[int, TapeArray] = weakref.WeakValueDictionary()

    def add(
        self, kind: Kind, function: Callable[..., Any], args: Any, kwargs: Any, out: Any = None
    ) -> None:
        """Puts a call on the tape, with plain arrays as arguments.

        Args:
            kind: How the call gives its result.
            function: Function that is called.
            args: Arguments.
            kwargs: Keyword arguments.
            out: Array that is written; None if it is among the arguments.
        """
        refer = self.buffers.symbols
        now = floating_point_errors()
        errors = tuple([(k, v) for k, v in now.items() if self.errors[k] != v])
        self.calls.append(Call(kind, function, refer(args), refer(kwargs), refer(out), errors))

    def release(self) -> None:
        """Forgets calls and memory, once there is a program."""
        self.calls = []
        self.buffers.release()


class _Current(threading.local):
    tape: Tape | None = None


current = _Current()


def bare(value: Any) -> Any:
    """Replaces arrays of the recording by plain arrays, also within lists, tuples and dicts."""
    if isinstance(value, TapeArray):
        return value.view(_ndarray)
    if isinstance(value, Opaque):
        return bare(value.plain())
    if type(value) is tuple:
        return tuple([bare(v) for v in value])
    if type(value) is list:
        return [bare(v) for v in value]
    if type(value) is dict:
        return {k: bare(v) for k, v in value.items()}
    return value


def taped(value: Any) -> Any:
    """Returns arrays of the recording for plain ones, also within lists and tuples."""
    if type(value) is _ndarray:
        array = value.view(TapeArray)
        tape = current.tape
        if tape is not None:
            tape.arrays[id(array)] = array
        return array
    if type(value) is tuple:
        return tuple([taped(v) for v in value])
    if type(value) is list:
        return [taped(v) for v in value]
    return value.on_tape() if isinstance(value, Held) else value


def shares_memory(array: Any, value: Any) -> bool:
    """Returns whether an array is a view of one within nested tuples, lists and dicts."""
    if isinstance(value, _ndarray):
        return root(value) is root(array)
    if isinstance(value, (list, tuple)):
        return any([shares_memory(array, v) for v in value])
    if isinstance(value, dict):
        return any([shares_memory(array, v) for v in value.values()])
    return False


#: Functions whose results are not data: shapes, dtypes, whether memory is shared.
_ABOUT_ARRAYS = frozenset(
    (
        *("shape", "ndim", "size", "result_type", "can_cast", "may_share_memory"),
        *("shares_memory", "iscomplexobj", "isrealobj", "broadcast_shapes"),
        *("common_type", "min_scalar_type"),
    )
)

#: Functions whose results have a shape that depends on values.
_SHAPE_FROM_VALUES = frozenset(
    (
        *("nonzero", "flatnonzero", "argwhere", "unique", "unique_values"),
        *("unique_counts", "unique_inverse", "unique_all", "compress", "extract"),
        *("union1d", "intersect1d", "setdiff1d", "setxor1d", "trim_zeros"),
    )
)

#: Whether a sum with an array for its result adds reversed rows as one without: before NumPy 2.2 it
#: adds them in the order of the memory, so that other bits may come out.
_SUMS_KEEP_THEIR_ORDER = numpy.lib.NumpyVersion(numpy.__version__) >= "2.2.0"

#: Functions that take an array for their result, and compute the same with it.
_WITH_OUT = frozenset(
    (
        *("sum", "prod", "max", "min", "amax", "amin", "any", "all", "cumsum", "cumprod"),
        *("dot", "concatenate", "stack", "take", "clip"),
    )
)

_SUMS = frozenset(("sum", "prod"))

_TO_SCALARS = frozenset(("sum", "prod", "max", "min", "amax", "amin"))


def record(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Makes a call of NumPy and puts it on the tape.

    Args:
        function: Function that gets and returns plain arrays.
        args: Its arguments; arrays of the recording become plain ones.
        kwargs: Its keyword arguments.

    Returns:
        The results of the function, as arrays of the recording.
    """
    tape = current.tape
    args, kwargs = bare(args), bare(kwargs)
    result = function(*args, **kwargs)
    if tape is None:
        return taped(result) if not isinstance(result, _Generic) else result
    name = getattr(function, "__name__", "")
    if name in _ABOUT_ARRAYS:
        return result
    if name in _SHAPE_FROM_VALUES or (name == "where" and len(args) < 2):
        raise NotRecordableError(f"numpy.{name} makes an array whose shape depends on values")
    if name.startswith("empty"):  # nothing has to be repeated for memory without contents
        tape.buffers.made(result)
        return taped(result)
    out = kwargs.get("out")
    if out is not None:
        _add_with_out(tape, function, args, kwargs)
        return taped(result)
    if result is None:  # it writes to an argument
        tape.add(Kind.WRITE, function, args, kwargs)
        return None
    return _keep(tape, function, args, kwargs, result, name)


def _keep(tape: Tape, function: Any, args: Any, kwargs: Any, result: Any, name: str) -> Any:
    """Puts a call on the tape whose result is new, unless it is a view of arguments."""
    if isinstance(result, (list, tuple)):
        arrays = type(result)([_array(r, name) for r in result]) if result else result
        if not all([shares_memory(a, (args, kwargs)) for a in arrays]):
            for made in arrays:
                tape.buffers.made(made)
            tape.add(Kind.ASSIGN, function, args, kwargs, arrays)
        return taped(arrays)
    array = _array(result, name)
    if array is result and shares_memory(array, (args, kwargs)):
        return taped(array)
    tape.buffers.made(array)
    # A result without axes is a scalar, unless there is an array for it.
    fits = array is result or name in _TO_SCALARS
    is_exact = name not in _SUMS or _adds_in_order(args)
    kind = Kind.OUT if name in _WITH_OUT and fits and is_exact else Kind.ASSIGN
    tape.add(kind, function, args, kwargs, array)
    return taped(array)


def _adds_in_order(args: Sequence[Any]) -> bool:
    """Returns whether sums of arguments have the same bits with an array for their result."""
    if _SUMS_KEEP_THEIR_ORDER:
        return True
    return not any([isinstance(a, _ndarray) and min(a.strides, default=0) < 0 for a in args])


def _add_with_out(tape: Tape, function: Any, args: Any, kwargs: Any) -> None:
    rest = {name: value for name, value in kwargs.items() if name != "out"}
    tape.add(Kind.OUT, function, args, rest, kwargs["out"])


def _array(value: Any, name: str) -> Any:
    """Returns a result as an array: NumPy makes scalars of arrays without axes."""
    if isinstance(value, _ndarray):
        return value
    if isinstance(value, _Generic):
        return numpy.asarray(value)
    raise NotRecordableError(f"numpy.{name} returned a Python value computed from arrays")


def _value_is_read(what: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if current.tape is not None:
            raise NotRecordableError(f"the value of an array is read ({what})")
        return getattr(_ndarray, what)(self, *args, **kwargs)

    method.__name__ = what
    return method


def _recorded_method(what: str) -> Callable[..., Any]:
    function = getattr(_ndarray, what)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return record(function, (self, *args), kwargs)

    method.__name__ = what
    return method


class TapeArray(numpy.ndarray):
    """An array of a recording; see the module."""

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **kwargs: Any
    ) -> Any:
        """Makes a call of a ufunc, with its result as output on the tape."""
        tape = current.tape
        inputs, kwargs = bare(inputs), bare(kwargs)
        call = ufunc if method == "__call__" else getattr(ufunc, method)
        # NumPy takes numbers of other classes than float for arrays of float64.
        values = [float(x) if isinstance(x, VaryingNumber) else x for x in inputs]
        if out:
            outputs = bare(out)
            result = call(*values, out=outputs, **kwargs)
            if tape is not None:
                tape.add(Kind.UFUNC, call, inputs, kwargs, outputs)
            return out[0] if len(out) == 1 else out
        result = call(*values, **kwargs)
        if method == "at":
            if tape is not None:
                tape.add(Kind.WRITE, call, inputs, kwargs)
            return None
        if isinstance(result, tuple):
            arrays = tuple([numpy.asarray(r) for r in result])
        else:
            arrays = (numpy.asarray(result),)
        if tape is not None:
            for array in arrays:
                tape.buffers.made(array)
            if method == "reduce" and not _adds_in_order(inputs):
                tape.add(Kind.ASSIGN, call, inputs, kwargs, arrays[0])
            else:
                tape.add(Kind.UFUNC, call, inputs, kwargs, arrays)
        results = taped(arrays)
        return results if isinstance(result, tuple) else results[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Makes a call of another function of NumPy."""
        return record(function, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        index = bare(index)
        if current.tape is not None and _is_mask(index):
            raise NotRecordableError(
                "an array is indexed by booleans, so that values decide shapes"
            )
        return record(_ndarray.__getitem__, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        record(_ndarray.__setitem__, (self, index, value), {})

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __reduce__(self) -> Any:
        return bare(self).__reduce__()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()


def _is_mask(index: Any) -> bool:
    if isinstance(index, tuple):
        return any(map(_is_mask, index))
    return isinstance(index, _ndarray) and index.dtype == bool


for _name in (
    *("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype"),
    *("choose", "clip", "conj", "copy", "cumprod", "cumsum", "diagonal", "dot"),
    *("fill", "flatten", "max", "mean", "min", "partition", "prod", "ptp", "put"),
    *("ravel", "repeat", "reshape", "resize", "round", "sort", "squeeze", "std"),
    *("sum", "swapaxes", "take", "trace", "transpose", "var"),
):
    if hasattr(_ndarray, _name):
        setattr(TapeArray, _name, _recorded_method(_name))
for _name in (
    *("__bool__", "__int__", "__float__", "__complex__", "__index__", "__contains__"),
    *("item", "tolist", "tobytes", "tofile", "__str__", "__repr__", "__format__"),
    *("nonzero", "searchsorted"),
):
    setattr(TapeArray, _name, _value_is_read(_name))
