"""The tape: calls of NumPy, kept with the memory that they read and write.

While a step is recorded, its arrays are of the class :class:`TapeArray`, a subclass of
``numpy.ndarray``. Every call that gets one is made, and put on the tape with its arrays and with
its result as output. The arrays keep their memory, so that the calls can be repeated. A view needs
no call: it shows whatever its memory holds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from chainer.core.arrays.recorder import NotRecordableError
from chainer.core.config.configuration import threads

_ndarray = numpy.ndarray
_Generic: Any = numpy.generic


class TapeNumber(float):
    """A number that may differ from call to call, and numbers computed from it.

    Kernels make arrays without axes of it, which are filled anew before each call. A comparison
    would decide what is recorded, and is refused.
    """

    _evaluate: Callable[[], float]
    #: Numbers computed from this one, with the other operands.
    _derived: dict[Any, tuple[Any, TapeNumber]]

    @classmethod
    def of(cls, evaluate: Callable[[], float]) -> TapeNumber:
        """Returns the number that a function computes now."""
        number = cls(evaluate())
        number._evaluate = evaluate
        number._derived = {}
        return number

    def array(self, dtype: Any) -> Any:
        """Returns the array of a dtype that has the value of the number in each call."""
        tape = current.tape
        if tape is None:
            return numpy.array(float(self), dtype)
        key = id(self), numpy.dtype(dtype)
        found = tape.numbers.get(key)
        if found is None:
            array = numpy.array(float(self), dtype)
            found = tape.numbers[key] = (self, array)
        return found[1]


def _arithmetic(name: str) -> Callable[..., Any]:
    function = getattr(float, name)

    def method(self: TapeNumber, *others: Any) -> Any:
        result = function(self, *others)
        if result is NotImplemented:
            return result

        def evaluate() -> float:
            numbers = [o._evaluate() if isinstance(o, TapeNumber) else o for o in others]
            return function(self._evaluate(), *numbers)

        # All parameters compute the same product: it is evaluated once in each call.
        key = name, *[id(o) if isinstance(o, TapeNumber) else float(o) for o in others]
        found = self._derived.get(key)
        if found is None:
            found = self._derived[key] = others, type(self).of(evaluate)
        return found[1]

    return method


def _comparison(name: str) -> Callable[..., Any]:
    def method(self: TapeNumber, *others: Any) -> Any:
        if current.tape is not None:
            raise NotRecordableError("a number that varies, such as a learning rate, is compared")
        return getattr(float, name)(self, *others)

    return method


for _operator in (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow"),
    *("rpow", "neg", "abs"),
):
    setattr(TapeNumber, f"__{_operator}__", _arithmetic(f"__{_operator}__"))
for _operator in (*("lt", "le", "gt", "ge", "eq", "ne", "bool"),):
    setattr(TapeNumber, f"__{_operator}__", _comparison(f"__{_operator}__"))
TapeNumber.__hash__ = float.__hash__


class Tape:
    """The calls of one recording.

    Attributes:
        calls: Functions without arguments, in order.
        numbers: Numbers and the arrays that hold their values, by number and dtype.
    """

    def __init__(self) -> None:
        self.calls: list[partial[Any]] = []
        self.numbers: dict[Any, tuple[TapeNumber, Any]] = {}

    def add(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Puts a call on the tape."""
        self.calls.append(partial(function, *args, **kwargs))


class _Current(threading.local):
    tape: Tape | None = None


current = _Current()


def bare(value: Any) -> Any:
    """Returns plain arrays for those of the recording, also within lists, tuples and dicts."""
    if isinstance(value, TapeArray):
        return value.view(_ndarray)
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
        return value.view(TapeArray)
    if type(value) is tuple:
        return tuple([taped(v) for v in value])
    if type(value) is list:
        return [taped(v) for v in value]
    return value


def root(array: Any) -> Any:
    """Returns the array that owns the memory of a view."""
    while isinstance(array.base, _ndarray):
        array = array.base
    return array


def _roots(value: Any, found: set[int]) -> None:
    if isinstance(value, _ndarray):
        found.add(id(root(value)))
    elif isinstance(value, (list, tuple)):
        for v in value:
            _roots(v, found)
    elif isinstance(value, dict):
        for v in value.values():
            _roots(v, found)


def assign(target: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Makes a call and copies its result to the memory that has to hold it."""
    result = function(*args, **kwargs)
    if isinstance(target, (list, tuple)):
        for part, value in zip(target, result, strict=True):
            _copy(part, value)
    else:
        _copy(target, result)


def _copy(target: Any, value: Any) -> None:
    if isinstance(target, _ndarray) and target.shape != numpy.shape(value):
        raise NotRecordableError(
            f"an array has the shape {numpy.shape(value)}; when the step was recorded, it had "
            f"{target.shape}"
        )
    numpy.copyto(target, value)


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

#: Functions that take an array for their result, and compute the same with it.
_WITH_OUT = frozenset(
    (
        *("sum", "prod", "max", "min", "amax", "amin", "any", "all", "cumsum", "cumprod"),
        *("dot", "concatenate", "stack", "take", "clip"),
    )
)


def record(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Makes a call of NumPy and puts it on the tape.

    Args:
        function: Function that gets and returns plain arrays.
        args: Its arguments; arrays of the recording become plain ones.
        kwargs: Its keyword arguments.

    Returns:
        What it returns, with arrays of the recording.
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
        return taped(result)
    out = kwargs.get("out")
    if out is not None:
        tape.add(function, *args, **kwargs)
        return taped(result)
    if result is None:  # it writes to an argument
        tape.add(function, *args, **kwargs)
        return None
    return _keep(tape, function, args, kwargs, result, name)


def _keep(tape: Tape, function: Any, args: Any, kwargs: Any, result: Any, name: str) -> Any:
    """Puts a call on the tape whose result is new, unless it is a view of arguments."""
    if isinstance(result, (list, tuple)):
        arrays = type(result)([_array(r, name) for r in result]) if result else result
        known: set[int] = set()
        _roots([args, kwargs], known)
        if not all([id(root(a)) in known for a in arrays]):
            tape.add(assign, arrays, function, args, kwargs)
        return taped(arrays)
    array = _array(result, name)
    known = set()
    _roots([args, kwargs], known)
    if array is result and id(root(array)) in known:
        return taped(array)
    if name in _WITH_OUT and array is result:
        tape.add(function, *args, out=array, **kwargs)
    else:
        tape.add(assign, array, function, args, kwargs)
    return taped(array)


class Held:
    """A result that is not an array, such as what a kernel keeps for its backward call.

    Each repetition puts a new one here, and later calls get it.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value, name)


def _released(value: Any) -> Any:
    """Returns what is held now in place of :class:`Held` objects, and the values of numbers."""
    if isinstance(value, Held):
        return value.value
    if type(value) is TapeNumber:
        return value._evaluate()
    if isinstance(value, tuple):
        parts = [_released(v) for v in value]
        make = getattr(type(value), "_make", tuple)  # hyperparameters are a named tuple
        return make(parts)
    if type(value) is list:
        return [_released(v) for v in value]
    return value


def record_whole(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a method of a kernel and puts the call on the tape.

    Args:
        method: Method that gets and returns plain arrays, or other objects with arrays.
        args: Its arguments.
        kwargs: Its keyword arguments.

    Returns:
        What it returns, with arrays of the recording.
    """
    args, kwargs = bare(args), bare(kwargs)
    # The whole kernel runs again in each repetition, so that it may read values, as without a tape.
    state = threads.state
    recorder, state.recorder = state.recorder, None
    try:
        result = method(*_released(args), **{k: _released(v) for k, v in kwargs.items()})
    finally:
        state.recorder = recorder
    if current.tape is None:
        return taped(result)
    held = _holding(result)
    current.tape.add(_repeat, held, method, args, kwargs)
    return taped(held)


def _holding(result: Any) -> Any:
    """Returns a result with fixed memory for arrays, and holders for other objects."""
    if result is None or isinstance(result, _ndarray):
        return result
    if isinstance(result, _Generic):
        return numpy.asarray(result)
    if type(result) in (tuple, list):
        return type(result)([_holding(r) for r in result])
    return Held(result)


def _repeat(held: Any, method: Callable[..., Any], args: Any, kwargs: Any) -> None:
    result = method(*_released(args), **{k: _released(v) for k, v in kwargs.items()})
    _keep_result(held, result)


def _keep_result(held: Any, result: Any) -> None:
    if held is None:
        return
    if isinstance(held, Held):
        held.value = result
    elif isinstance(held, (tuple, list)):
        for part, value in zip(held, result, strict=True):
            _keep_result(part, value)
    elif held is not result:
        _copy(held, result)


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
        if out:
            outputs = bare(out)
            result = call(*inputs, out=outputs, **kwargs)
            if tape is not None:
                tape.add(call, *inputs, out=outputs, **kwargs)
            return out[0] if len(out) == 1 else out
        result = call(*inputs, **kwargs)
        if method == "at":
            if tape is not None:
                tape.add(call, *inputs, **kwargs)
            return None
        if isinstance(result, tuple):
            arrays = tuple([numpy.asarray(r) for r in result])
        else:
            arrays = (numpy.asarray(result),)
        if tape is not None:
            tape.add(call, *inputs, out=arrays, **kwargs)
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
