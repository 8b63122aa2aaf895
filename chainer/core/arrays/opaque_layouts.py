"""Backends whose arrays have memory layouts that code written against ``xp`` cannot read.

oneDNN, for example, stores images in blocks of channels. Its arrays (``ideep4py.mdarray``) go from
kernel to kernel in that layout, and only code that needs NumPy arrays pays for the conversion.
Nothing here concerns backends with ordinary arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from chainer.core.arrays.lookup import find_backend
from chainer.core.arrays.protocol import Backend
from chainer.core.typing import Array


class OpaqueLayoutBackend(Backend):
    """A backend with an array type that its ``xp`` does not make, or with two array types.

    It belongs to the family of the backend whose arrays ``xp`` makes (:attr:`xp_backend`). The two
    types of arrays can be mixed: :meth:`from_host`, functions and kernels may return either type,
    and all methods of this backend accept both. Kernels get arrays as they are. Other code gets the
    result of :meth:`to_xp`, unless a function declares ``accepts_opaque_arrays = True``.

    Another use is a backend that wraps the arrays of a library in a class of its own, and whose
    ``xp`` makes the wrappers. It overrides only :meth:`wrap`. Its ``array_types`` lists both the
    class of the wrappers and the class of the wrapped arrays.

    Example:
        >>> class Boxed:
        ...     def __init__(self, array):
        ...         self.array, self.shape, self.dtype = array, array.shape, array.dtype
        >>> class BoxedBackend(chainer.backend.OpaqueLayoutBackend):
        ...     name, array_types, xp = "boxed", (Boxed,), np
        ...     def from_host(self, array, device):
        ...         return Boxed(np.array(array))
        ...     def to_host(self, array):
        ...         return self.to_xp(array).copy()
        ...     def to_xp(self, array):
        ...         return array.array if isinstance(array, Boxed) else array
        >>> BoxedBackend().to_host(Boxed(np.arange(3)))
        array([0, 1, 2])
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.makes_xp_arrays = cls.to_xp is OpaqueLayoutBackend.to_xp

    @property
    def xp_backend(self) -> Backend:
        """The backend of the arrays that ``xp`` makes, of the same family; itself by default."""
        return self

    def wrap(self, array: Array) -> Array:
        """Converts an array to the type that Variables store.

        Called for arrays that users pass and for arrays that functions return.
        """
        return array

    def to_xp(self, array: Array) -> Array:
        """Converts an array to the type that ``xp`` makes, for code written against ``xp``.

        The result may be a copy, so it is for reading only. An array of that type is returned as it
        is.
        """
        return array

    def xp_if_plain(self, array: Array) -> Array:
        """Returns an array as one that ``xp`` makes if their memory is alike, else as it is.

        Nothing is copied. Asked by :mod:`chainer.core.arrays.acceleration` for results of kernels.
        """
        return array

    def xp_view(self, array: Array) -> Array:
        """Returns an array in the type that ``xp`` makes; writing to it changes the array."""
        return self.to_xp(array)

    def copy_to_xp(self, array: Array, out: Array) -> None:
        """Writes the elements of an array to one that ``xp`` makes.

        Captured steps convert arrays so, into memory that they have planned. A backend that can
        convert an array into given memory overrides it, because this method copies the result of
        :meth:`to_xp`.

        Args:
            array: The array.
            out: Array of the same shape and dtype that ``xp`` made.
        """
        out[...] = self.to_xp(array)

    def broadcast_axes(self, array: Array) -> tuple[int, ...]:
        """Returns no axes: such arrays own their memory, and reading the strides may convert it."""
        return ()


class ReferenceOnXpArrays:
    """A reference kernel that gets all arrays in the type that ``xp`` makes.

    Args:
        reference: The reference kernel.
        methods: Names of its methods.
        in_place: Whether the methods write to the arrays they get.
    """

    def __init__(self, reference: Any, methods: tuple[str, ...], in_place: bool) -> None:
        self.reference = reference
        for name in methods:
            setattr(self, name, _on_xp_arrays(getattr(reference, name), in_place))

    def __getattr__(self, name: str) -> Any:
        # Kept: functions ask for the optional methods of a kernel in each call.
        found = getattr(self.reference, name)
        self.__dict__[name] = found
        return found


#: Classes of most arguments, which need no conversion: data types and their numbers, too.
_PLAIN = frozenset(
    [numpy.ndarray, type(None), bool, int, float, str, numpy.float16, numpy.float32, numpy.float64]
    + [type(numpy.dtype(code)) for code in "efd"]
)


def _on_xp_arrays(method: Callable[..., Any], in_place: bool) -> Callable[..., Any]:
    def convert(value: Any) -> Any:
        cls: type[Any] = value.__class__
        if cls is tuple or cls is list:
            converted: list[Any] = [convert(item) for item in value]
            return converted if cls is list else tuple(converted)
        if cls in _PLAIN or cls.__module__ == "builtins":  # not worth asking for a backend
            return value
        backend = find_backend(cls)
        if backend is None or backend.makes_xp_arrays:
            return value
        return backend.xp_view(value) if in_place else backend.to_xp(value)

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        # A loop without calls, because this is a hot path: if a second provider is enabled, most
        # small calls come here.
        for value in args:
            cls = value.__class__
            if cls not in _PLAIN and not (cls is tuple and _PLAIN.issuperset(map(type, value))):
                return method(*map(convert, args), **kwargs)
        return method(*args, **kwargs)

    return wrapper
