"""Names and methods that NumPy 1.20 to 2 removed.

Each value is made by a function when it is needed: NumPy warns about some names when they are
looked up, and CuPy may be missing.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy

from chainer.core.typing import Array, ArrayLike, DTypeLike

T = TypeVar("T")


def _constant(value: T) -> Callable[[], T]:
    return lambda: value


def _renamed(name: str) -> Callable[[], Any]:
    """Returns a function that returns ``numpy.name``; the name may contain dots."""

    def get() -> Any:
        value: Any = numpy
        for part in name.split("."):
            value = getattr(value, part)
        return value

    return get


# numpy.bool, numpy.int and so on were Python's types until 1.20: ``isinstance(3, numpy.int)`` was
# true. NumPy 2 gives some of the names another meaning, and warns that it may do so for the others.
_PYTHON_TYPES: dict[str, Callable[[], Any]] = {
    "bool": _constant(builtins.bool),
    "complex": _constant(builtins.complex),
    "float": _constant(builtins.float),
    "int": _constant(builtins.int),
    "long": _constant(builtins.int),
    "object": _constant(builtins.object),
    "str": _constant(builtins.str),
    "unicode": _constant(builtins.str),
}

_RENAMED = {
    "Inf": "inf",
    "Infinity": "inf",
    "NaN": "nan",
    "PINF": "inf",
    "alltrue": "all",
    "bool8": "bool_",
    "cfloat": "complex128",
    "clongfloat": "clongdouble",
    "complex_": "complex128",
    "cumproduct": "cumprod",
    "float_": "float64",
    "infty": "inf",
    "int0": "intp",
    "longcomplex": "clongdouble",
    "longfloat": "longdouble",
    "mat": "asmatrix",
    "object0": "object_",
    "product": "prod",
    "round_": "round",
    "row_stack": "vstack",
    "singlecomplex": "complex64",
    "sometrue": "any",
    "string_": "bytes_",
    "trapz": "trapezoid",
    "uint0": "uintp",
    "unicode_": "str_",
    "DataSource": "lib.npyio.DataSource",
    "AxisError": "exceptions.AxisError",
    "ComplexWarning": "exceptions.ComplexWarning",
    "ModuleDeprecationWarning": "exceptions.ModuleDeprecationWarning",
    "RankWarning": "exceptions.RankWarning",
    "TooHardError": "exceptions.TooHardError",
    "VisibleDeprecationWarning": "exceptions.VisibleDeprecationWarning",
    "byte_bounds": "lib.array_utils.byte_bounds",
}


def _asscalar(array: ArrayLike) -> Any:
    return numpy.asarray(array).item()


def _in1d(first: ArrayLike, second: ArrayLike, *args: bool, **kwargs: Any) -> Any:
    return numpy.isin(numpy.ravel(first), second, *args, **kwargs)


def _msort(array: ArrayLike) -> Any:
    return numpy.sort(array, axis=0)


def _issubsctype(first: DTypeLike, second: DTypeLike) -> bool:
    return issubclass(numpy.dtype(first).type, numpy.dtype(second).type)


def _issubclass_(first: type, second: type) -> bool:
    try:
        return issubclass(first, second)
    except TypeError:
        return False


def _find_common_type(array_types: Iterable[DTypeLike], scalar_types: Iterable[DTypeLike]) -> Any:
    """The dtype that holds arrays and scalars, as in NumPy 1: a scalar decides by its kind."""
    arrays = [numpy.dtype(t) for t in array_types]
    scalars = [numpy.dtype(t) for t in scalar_types]
    if not arrays or not scalars:
        return numpy.result_type(*(arrays or scalars))
    of_arrays, of_scalars = numpy.result_type(*arrays), numpy.result_type(*scalars)
    # Booleans, integers, floating point numbers, complex numbers.
    kinds = "buifc"
    greater = kinds.find(of_scalars.kind) > kinds.find(of_arrays.kind)
    return of_scalars if greater else of_arrays


class _Cast(dict[Any, Callable[[Any], Any]]):
    """``numpy.cast[dtype](x)``."""

    def __missing__(self, dtype: DTypeLike) -> Callable[[Any], Any]:
        return lambda x: numpy.asarray(x).astype(dtype)


#: ``numpy.sctypes``: types by kind, from the smallest to the largest.
_SCALAR_TYPES: Mapping[str, list[type]] = MappingProxyType(
    {
        "int": [numpy.int8, numpy.int16, numpy.int32, numpy.int64],
        "uint": [numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64],
        "float": [numpy.float16, numpy.float32, numpy.float64, numpy.longdouble],
        "complex": [numpy.complex64, numpy.complex128, numpy.clongdouble],
        "others": [bool, object, bytes, str, numpy.void],
    }
)

REMOVED: dict[str, dict[str, Callable[[], Any]]] = {
    "numpy": {
        **{name: _renamed(new) for name, new in _RENAMED.items()},
        "NINF": _constant(-numpy.inf),
        "NZERO": _constant(-0.0),
        "PZERO": _constant(0.0),
        "asscalar": _constant(_asscalar),
        "cast": lambda: _Cast(),
        "find_common_type": _constant(_find_common_type),
        "in1d": _constant(_in1d),
        "issubclass_": _constant(_issubclass_),
        "issubsctype": _constant(_issubsctype),
        "msort": _constant(_msort),
        "sctypes": _constant(_SCALAR_TYPES),
        "typeDict": _renamed("sctypeDict"),
    },
}


def _array(*args: Any, **kwargs: Any) -> Any:
    """``numpy.array``, where ``copy=False`` means: copy if necessary."""
    if kwargs.get("copy", True) is False:
        kwargs["copy"] = None
    try:
        return numpy.array(*args, **kwargs)
    except ValueError as error:
        # Until 1.24, sequences of various lengths became an array of objects.
        if "inhomogeneous" not in str(error) or len(args) > 1 or "dtype" in kwargs:
            raise
        return numpy.array(*args, **kwargs, dtype=object)


def _asarray(*args: Any, **kwargs: Any) -> Any:
    """``numpy.asarray``, which makes an array of objects from sequences of various lengths."""
    try:
        return numpy.asarray(*args, **kwargs)
    except ValueError as error:
        if "inhomogeneous" not in str(error) or len(args) > 1 or "dtype" in kwargs:
            raise
        return numpy.asarray(*args, **kwargs, dtype=object)


def _of_iterables(name: str) -> Callable[[], Any]:
    """Returns a function that returns ``numpy.name``, which takes any iterable of arrays."""

    def stack(arrays: Iterable[ArrayLike], *args: Any, **kwargs: Any) -> Any:
        # Iterators and generators are refused since NumPy 1.24.
        if not hasattr(arrays, "__getitem__"):
            arrays = list(arrays)
        return getattr(numpy, name)(arrays, *args, **kwargs)

    return _constant(stack)


def _of_ragged(method: Callable[..., Any], values: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a random function of NumPy, which takes a list of lists of various lengths."""
    try:
        return method(values, *args, **kwargs)
    except ValueError as error:
        # Until 1.24, they became an array of objects.
        if "inhomogeneous" not in str(error):
            raise
        return method(numpy.array(values, dtype=object), *args, **kwargs)


def _random(name: str) -> Callable[..., Any]:
    """Returns a method of a random generator that takes lists of various lengths."""

    def call(generator: Any, *args: Any, **kwargs: Any) -> Any:
        method = getattr(generator, name)
        # Without positional argument, the name of the first one differs among the methods.
        return _of_ragged(method, *args, **kwargs) if args else method(**kwargs)

    return call


#: Functions of ``numpy.random`` and methods of generators that make an array of their argument.
_RANDOM = ("choice", "permutation")

CHANGED: dict[str, dict[str, Callable[[], Any]]] = {
    "numpy": {
        **_PYTHON_TYPES,
        "array": _constant(_array),
        "asarray": _constant(_asarray),
        **{
            name: _of_iterables(name)
            for name in ("column_stack", "dstack", "hstack", "stack", "vstack")
        },
    },
    "numpy.random": {name: _constant(partial(_random(name), numpy.random)) for name in _RANDOM},
    # Code that serves NumPy and CuPy writes ``xp.int``; CuPy removed these names, too.
    "cupy": dict(_PYTHON_TYPES),
}


def _itemset(array: Array, *args: Any) -> None:
    *index, value = args
    if not index:
        array[...] = value
    elif len(index) == 1 and not isinstance(index[0], tuple):
        array.flat[index[0]] = value
    else:
        array[index[0] if len(index) == 1 else tuple(index)] = value


def _tostring(array: Array, order: str = "C") -> bytes:
    return array.tobytes(order)


def _newbyteorder(array: Array, new_order: str = "S") -> Any:
    return array.view(array.dtype.newbyteorder(new_order))


_ndarray = partial(getattr, numpy, "ndarray")
_random_state = partial(getattr, numpy.random, "RandomState")
_generator = partial(getattr, numpy.random, "Generator")

METHODS: dict[str, list[tuple[Callable[[], type], Callable[..., Any]]]] = {
    "itemset": [(_ndarray, _itemset)],
    "newbyteorder": [(_ndarray, _newbyteorder)],
    "ptp": [(_ndarray, numpy.ptp)],
    "tostring": [(_ndarray, _tostring)],
}


#: As METHODS, but used although the class has the method, because its meaning changed.
CHANGED_METHODS: dict[str, list[tuple[Callable[[], type], Callable[..., Any]]]] = {
    name: [(generator, _random(name)) for generator in (_random_state, _generator)]
    for name in _RANDOM
}


_NUMBERS = (builtins.float, builtins.int, builtins.complex)


def convert(function: Callable[[Any], Any], value: ArrayLike) -> Any:
    """Calls ``float``, ``int`` or ``complex``, which took any array of one element until NumPy 2.4.

    Args:
        function: Value of the name ``float``, ``int`` or ``complex`` in the calling code.
        value: Its argument.

    Returns:
        The result of the call.
    """
    # The name may mean another function in the calling code.
    if type(value) is numpy.ndarray and value.ndim and value.size == 1 and function in _NUMBERS:
        value = value.item()
    return function(value)
