"""Chainer on the arrays of any library that follows the Python array API standard."""

from __future__ import annotations

from typing import Any

from chainer_array_api.array import Array
from chainer_array_api.backend import ArrayAPIBackend
from chainer_array_api.fallback import FallbackError, FallbackWarning, count_fallbacks
from chainer_array_api.functional.backend import FunctionalArrayBackend

__all__ = [
    "Array",
    "ArrayAPIBackend",
    "FallbackError",
    "FallbackWarning",
    "FunctionalArrayBackend",
    "count_fallbacks",
    "wrap",
]


def wrap(native: Any) -> Array:
    """Returns an array that Chainer works with for one of a library's; memory is shared.

    Args:
        native: Array of a library with a backend of this kind, such as a ``torch.Tensor``.

    Raises:
        TypeError: If no such backend knows it.

    Example:
        >>> import array_api_strict, chainer_array_api
        >>> x = chainer_array_api.wrap(array_api_strict.asarray([1.0, 2.0]))
        >>> x.dtype, x.shape
        (dtype('float64'), (2,))
    """
    from chainer.backend import backend_of

    backend = backend_of(native)
    if not isinstance(backend, ArrayAPIBackend):
        raise TypeError(f"expected an array of an array API library, got {type(native)}")
    return backend.wrap(native)
