"""The array namespace ``xp``: NumPy's functions for strict arrays."""

from __future__ import annotations

import types
from typing import Any

import numpy

from chainer_strict_backend import array as _array
from chainer_strict_backend import crossing

ndarray = _array.ndarray

#: Functions of NumPy that no accelerator library has, or that leave the device unseen.
_MISSING = frozenset(
    {"frompyfunc", "fromfile", "memmap", "ndenumerate", "ndindex", "nditer", "vectorize"}
)


class Namespace(types.ModuleType):
    """A module whose functions are those of a NumPy module, for strict arrays.

    Args:
        name: Name of the module.
        source: The NumPy module (or random generator).
    """

    def __init__(self, name: str, source: Any) -> None:
        super().__init__(name)
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = translate(getattr(self._source, name))
        setattr(self, name, value)
        return value


def translate(value: Any) -> Any:
    """Returns the replacement of an attribute of NumPy: functions are wrapped, all else stays.

    Args:
        value: The attribute.
    """
    if isinstance(value, numpy.ufunc):
        return crossing.Ufunc(value)
    if isinstance(value, type) or not callable(value):
        return value
    return crossing.wrap(value)


linalg = Namespace(f"{__name__}.linalg", numpy.linalg)
fft = Namespace(f"{__name__}.fft", numpy.fft)
# A generator of its own: seeding NumPy's does not seed that of a device.
# The seed is that of a test that is the first to use it; others seed it when they begin.
random = Namespace(f"{__name__}.random", numpy.random.RandomState(0))
lib = types.ModuleType(f"{__name__}.lib")
lib.stride_tricks = Namespace(  # type: ignore[attr-defined]
    f"{__name__}.lib.stride_tricks", numpy.lib.stride_tricks
)


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name in _MISSING:
        raise AttributeError(f"strict arrays have no function {name!r}")
    value = translate(getattr(numpy, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(numpy)} - _MISSING)
