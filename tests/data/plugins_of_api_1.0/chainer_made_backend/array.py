"""The array type. Replace it by the array type of a library.

Chainer needs arrays with NumPy's methods and operators. Their results are of the same type, also
those without dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class MadeBackendArray(np.ndarray):
    """An array of another type than NumPy's."""

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **kwargs: Any
    ) -> Any:
        """Applies an elementwise function or reduction."""
        kwargs = {name: bare(value) for name, value in kwargs.items()}
        if out:
            kwargs["out"] = tuple(map(bare, out))
        result = getattr(ufunc, method)(*map(bare, inputs), **kwargs)
        if out:
            return out[0] if len(out) == 1 else out
        return wrapped(result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Applies another function of NumPy."""
        return wrapped(super().__array_function__(func, types, args, kwargs))

    def __getitem__(self, key: Any) -> Any:
        """Returns elements, a single one as an array without dimensions."""
        return wrapped(super().__getitem__(key))

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the mean; NumPy makes a scalar of it in float16."""
        return wrapped(super().mean(*args, **kwargs))


def bare(value: Any) -> Any:
    """Returns the NumPy array of an array of this type; other values unchanged."""
    return value.view(np.ndarray) if isinstance(value, MadeBackendArray) else value


def wrapped(value: Any) -> Any:
    """Returns NumPy's arrays and scalars, also those in lists and tuples, as arrays of this type."""
    if isinstance(value, tuple):  # also a named one, such as the result of linalg.svd
        return tuple(map(wrapped, value))
    if isinstance(value, list):
        return list(map(wrapped, value))
    if isinstance(value, np.generic):
        value = np.asarray(value)
    return value.view(MadeBackendArray) if type(value) is np.ndarray else value
