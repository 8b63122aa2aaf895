"""A stand-in for CuPy: its arrays are NumPy's under another name, its kernels are emulated.

It lets whole training steps run through the CuPy backend and its kernels where there is no GPU.
"""

from __future__ import annotations

import contextlib
import functools
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy


class _Device:
    """A device. All arrays are on device 0."""

    def __init__(self, device: Any = None) -> None:
        self.id = 0 if device is None else int(device)

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *args: Any) -> None:
        pass

    def use(self) -> None:
        pass

    def synchronize(self) -> None:
        pass


class ndarray(numpy.ndarray):
    """An array that the framework takes for one of CuPy."""

    __module__ = "cupy"

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return numpy.asarray(array).view(ndarray)  # not a scalar

    device = property(lambda self: _Device())
    data = property(lambda self: SimpleNamespace(ptr=self.ctypes.data))

    def get(self) -> Any:
        return numpy.array(self)

    def __getitem__(self, index: Any) -> Any:
        return lift(super().__getitem__(index))

    def dot(self, other: Any) -> Any:
        return lift(numpy.dot(numpy.asarray(self), numpy.asarray(other)))


ndarray.__qualname__ = "ndarray"


def lift(value: Any) -> Any:
    """Returns a result with arrays of this module."""
    if isinstance(value, (numpy.ndarray, numpy.generic)) and not isinstance(value, ndarray):
        return numpy.asarray(value).view(ndarray)
    if isinstance(value, (list, tuple)):
        return type(value)(map(lift, value))
    return value


def _wrapped(function: Any) -> Any:
    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return lift(function(*args, **kwargs))

    return call


class _Ufunc:
    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function is numpy.matmul and max(arg.ndim for arg in args[:2]) > 2:
            _refuse_bfloat16(*args)
        return lift(self._function(*args, **kwargs))

    def at(self, *args: Any) -> None:
        _refuse_bfloat16(args[0])
        self._function.at(*args)

    def __getattr__(self, name: str) -> Any:
        return _wrapped(getattr(self._function, name))


def _refuse_bfloat16(*arrays: Any) -> None:
    """CuPy 14 has neither batched products nor additions at positions of this type."""
    if any(array.dtype.name == "bfloat16" for array in arrays):
        raise TypeError("CuPy does not do this with bfloat16")


class _Random:
    def random_sample(self, size: Any = None, dtype: Any = float) -> Any:
        return lift(numpy.random.random_sample(size).astype(dtype))

    def __getattr__(self, name: str) -> Any:
        return _wrapped(getattr(numpy.random, name))


class FakeCupy(ModuleType):
    """The module."""

    __version__ = "14.0.0"
    ndarray = ndarray
    random = _Random()
    cuda = SimpleNamespace(
        Device=_Device,
        runtime=SimpleNamespace(getDeviceCount=lambda: 1),
        get_current_stream=lambda: contextlib.nullcontext(),
    )

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        return numpy.array(value, dtype).view(ndarray)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(numpy, name)
        if isinstance(value, numpy.ufunc):
            return _Ufunc(value)
        return value if isinstance(value, type) or not callable(value) else _wrapped(value)
