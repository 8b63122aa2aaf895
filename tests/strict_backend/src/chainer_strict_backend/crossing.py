"""From strict arrays to the NumPy arrays inside, and back; the only place where both meet."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from chainer_strict_backend import current


def refuse(value: Any) -> TypeError:
    """Returns the error raised where a host array meets device arrays."""
    return TypeError(
        f"Unsupported type {type(value)}: strict arrays do not mix with host arrays; "
        "move the array to the device first"
    )


#: Classes of arguments that hold no array, looked up first: most arguments are of them.
_WITHOUT_ARRAYS = frozenset((int, float, bool, str, type(None), type(...)))


def lower(value: Any, devices: set[int]) -> Any:
    """Returns a value with the NumPy array in place of each strict array.

    Args:
        value: An argument: array, scalar, or nested lists, tuples, dictionaries and slices of them.
        devices: Set to which the devices of the arrays are added.

    Raises:
        TypeError: If there is a NumPy array in it.
    """
    kind = type(value)
    if kind in _WITHOUT_ARRAYS:
        return value
    if kind is tuple:
        return tuple([lower(item, devices) for item in value])
    if kind is slice:
        parts = value.start, value.stop, value.step
        if _WITHOUT_ARRAYS.issuperset(map(type, parts)):
            return value
        return slice(*[lower(part, devices) for part in parts])
    if isinstance(value, _array_class()):
        devices.add(value.device_index)
        return value._host
    if isinstance(value, numpy.ndarray):
        raise refuse(value)
    if isinstance(value, (list, tuple)):
        items = [lower(item, devices) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: lower(item, devices) for key, item in value.items()}
    return value


@functools.cache
def _array_class() -> Any:
    # Not imported above: its module imports this one. Each import statement takes a microsecond.
    from chainer_strict_backend.array import ndarray

    return ndarray


def lift(result: Any, device: int, sources: tuple[Any, ...] = ()) -> Any:
    """Returns a result with a strict array in place of each NumPy array or scalar.

    Args:
        result: What a NumPy function returned.
        device: Index of the device of the result.
        sources: Strict arrays the result may be a view of.
    """
    ndarray = _array_class()
    if isinstance(result, numpy.generic):
        return ndarray(numpy.asarray(result), device)
    if isinstance(result, numpy.ndarray):
        same = next((s for s in sources if s._host is result), None)
        if same is not None:
            return same
        base = None
        if result.base is not None:
            base = next((s for s in sources if numpy.may_share_memory(s._host, result)), None)
        return ndarray(result, device, base if base is None or base.base is None else base.base)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(lift(item, device, sources) for item in result))
    if isinstance(result, (list, tuple)):
        items = [lift(item, device, sources) for item in result]
        return items if isinstance(result, list) else tuple(items)
    return result


def common_device(devices: set[int]) -> int:
    """Returns the one device of the arguments; the current device without any.

    Raises:
        ValueError: If arrays of different devices are mixed.
    """
    if len(devices) > 1:
        raise ValueError(f"arrays of different devices are mixed: {sorted(devices)}")
    return next(iter(devices)) if devices else current.get()


def check_place(device: int, result: Any) -> None:
    """Checks that something was computed on the current device; views may be made on any.

    CuPy computes on the current device, whatever device the arrays are on: in the wrong memory, or
    not at all where one device cannot read the memory of another.

    Args:
        device: Index of the device of the arguments.
        result: What the host computed; None for an operation in place.

    Raises:
        ValueError: If another device is current.
    """
    here = current.get()
    if device != here and not _is_view(result):
        raise ValueError(
            f"the arrays are on device {device} while device {here} is current; "
            "make theirs current by 'with array_device:'"
        )


def _is_view(result: Any) -> bool:
    if isinstance(result, (list, tuple)):
        return all(_is_view(item) for item in result)
    return isinstance(result, numpy.ndarray) and (result.base is not None or not result.size)


def _arrays_in(values: Any) -> list[Any]:
    if isinstance(values, _array_class()):
        return [values]
    if isinstance(values, (list, tuple)):
        return [array for value in values for array in _arrays_in(value)]
    return []


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a NumPy function with strict arrays.

    Args:
        function: The function.
        args: Its arguments, with strict arrays for NumPy arrays.
        kwargs: Its keywords; ``out`` is returned itself.
    """
    devices: set[int] = set()
    lowered = lower(args, devices)
    keywords = lower(kwargs, devices)
    device = common_device(devices)
    result = function(*lowered, **keywords)
    out = kwargs.get("out")
    check_place(device, None if out is not None else result)
    if out is not None:
        return out[0] if isinstance(out, tuple) and len(out) == 1 else out
    return lift(result, device, tuple(_arrays_in(args)))


def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a NumPy function as one of strict arrays.

    Args:
        function: The function.
    """

    @functools.wraps(function, updated=())
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return call(function, *args, **kwargs)

    return wrapped


class Ufunc:
    """A NumPy ufunc for strict arrays.

    Args:
        function: The ufunc.
    """

    def __init__(self, function: numpy.ufunc) -> None:
        self._function = function
        self.__name__ = function.__name__
        self.nin, self.nout = function.nin, function.nout

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call(self._function, *args, **kwargs)

    def at(self, array: Any, indices: Any, *values: Any) -> None:
        """Performs the operation in place, repeated indices included."""
        call(self._function.at, array, indices, *values)

    def reduce(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        """Reduces one axis."""
        return call(self._function.reduce, array, *args, **kwargs)

    def accumulate(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        """Accumulates along one axis."""
        return call(self._function.accumulate, array, *args, **kwargs)

    def outer(self, first: Any, second: Any, **kwargs: Any) -> Any:
        """Applies the operation to all pairs."""
        return call(self._function.outer, first, second, **kwargs)

    def __repr__(self) -> str:
        return f"<strict ufunc {self.__name__!r}>"
