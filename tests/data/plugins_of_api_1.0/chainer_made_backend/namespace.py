"""The array namespace: a module with NumPy's functions, which make arrays of this type.

If a library has such a module, as CuPy does, use the module itself. If names or arguments differ
from NumPy's, adapt them here.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from chainer_made_backend.array import MadeBackendArray, wrapped


class Namespace(types.ModuleType):
    """A module with the functions of another one, which return arrays of this type.

    Args:
        name: Name of the module.
        source: The other module.
    """

    def __init__(self, name: str, source: types.ModuleType) -> None:
        super().__init__(name)
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(self._source, name)
        if isinstance(value, types.ModuleType):
            value = Namespace(f"{self.__name__}.{name}", value)
        elif callable(value) and not isinstance(value, (type, np.ufunc)):
            value = _wrapping(value)
        setattr(self, name, value)
        return value


def _wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: wrapped(function(*args, **kwargs))


# As Any: its attributes exist at run time only.
xp: Any = Namespace(__name__ + ".xp", np)
xp.ndarray = MadeBackendArray
xp.asarray = _wrapping(np.asanyarray)
