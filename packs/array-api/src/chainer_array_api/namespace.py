"""The array namespace ``xp``: NumPy's names, on top of the standard."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api import fallback
from chainer_array_api.functions import (
    creation,
    elementwise,
    indexing,
    linear_algebra,
    operands,
    reductions,
    searching,
    shapes,
    standard,
)

if TYPE_CHECKING:
    from chainer.typing import ArrayLike

_MODULES = (
    *(elementwise, creation, reductions, shapes, indexing, searching, linear_algebra),
    standard,
)
# Helpers of these modules that are not functions of NumPy.
_OURS = frozenset(
    """
    contiguous reshape_view max_of linalg_function fft_function get set add_at axes_of axis_of
    shape_of deliver mixed find_backend placed
    """.split()
)

#: Attributes of NumPy that are the same for all arrays: dtypes, constants, questions about dtypes.
SHARED = frozenset(
    """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp float16 float32 float64
    complex64 complex128 intc int_ uint byte ubyte short ushort half single double csingle
    cdouble bool_ generic number integer signedinteger unsignedinteger inexact floating
    complexfloating dtype finfo iinfo inf nan pi e euler_gamma can_cast promote_types
    min_scalar_type issubdtype isscalar isdtype broadcast_shapes errstate seterr geterr s_ c_
    index_exp
    """.split()
)


class Namespace(types.ModuleType):
    """A module with NumPy's functions for the arrays of one backend.

    Functions of NumPy are, in this order: the backend's own (``functions`` of
    :class:`~chainer_array_api.ArrayAPIBackend`), functions made of the standard's, functions that
    NumPy computes (:data:`chainer_array_api.fallback.FUNCTIONS`). Others are missing.

    Args:
        backend: The backend.
    """

    def __init__(self, backend: Any) -> None:
        super().__init__(f"{__name__}.{backend.name}", f"NumPy's functions for {backend.name!r}.")
        self._backend = backend
        self.ndarray = backend.array_class
        self.newaxis = None
        self._get = backend.get
        self._set = backend.set
        self._add_at = backend.add_at
        self._astype = functools.partial(operands.astype, backend)
        self.random = backend.random_numbers()
        self.linalg = _Linalg(
            backend, "linalg", numpy.linalg, fallback.LINALG, linear_algebra.linalg_function
        )
        self.fft = _Extension(backend, "fft", numpy.fft, fallback.FFT, linear_algebra.fft_function)

    def __getattr__(self, name: str) -> Any:
        value = None if name.startswith("_") else self._find(name)
        if value is None:
            raise AttributeError(
                f"{self._backend.name!r} has no function {name!r}: it is neither made of the array "
                "API standard nor among those NumPy may compute"
            )
        # The next access finds the attribute without __getattr__.
        setattr(self, name, value)
        return value

    def _find(self, name: str) -> Any:
        backend = self._backend
        if name in backend.functions:
            return functools.partial(backend.functions[name], backend)
        if name in elementwise.NAMES:
            return elementwise.Elementwise(backend, name)
        function = functions().get(name)
        if function is not None:
            return functools.partial(function, backend)
        if name in SHARED:
            return getattr(numpy, name)
        return self.on_host(name) if name in fallback.FUNCTIONS else None

    def on_host(self, name: str) -> Callable[..., Any]:
        """Returns a function that NumPy computes.

        Args:
            name: NumPy's name of it.
        """
        return fallback.function(self._backend, name, getattr(numpy, name))

    def __array_namespace_info__(self) -> standard.Info:
        """Returns what the namespace can do, as the array API standard asks for it."""
        return standard.Info(self._backend)

    def __dir__(self) -> list[str]:
        names = {*functions(), *elementwise.NAMES, *SHARED, *fallback.FUNCTIONS}
        return sorted({*names, *self._backend.functions, "random", "linalg", "fft", "ndarray"})


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Returns the functions made of the standard's, by NumPy's name."""
    found: dict[str, Callable[..., Any]] = {}
    for module in _MODULES:
        for name, value in vars(module).items():
            function = callable(value) and not isinstance(value, type) and hasattr(numpy, name)
            if function and not name.startswith("_") and name not in _OURS:
                found[name] = value
    return found


class _Extension(types.ModuleType):
    """A module of NumPy's: what the standard's extension of this name has, else NumPy computes."""

    def __init__(
        self, backend: Any, name: str, source: Any, names: frozenset[str], find: Callable[..., Any]
    ) -> None:
        super().__init__(f"{__name__}.{backend.name}.{name}")
        self._backend = backend
        self._source = source
        self._names = names
        self._find = find

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = self._find(self._backend, name)
        if value is None and name in self._names:
            value = fallback.function(self._backend, name, getattr(self._source, name))
        if value is None:
            raise AttributeError(f"{self._backend.name!r} has no function {name!r}")
        setattr(self, name, value)
        return value


class _Linalg(_Extension):
    LinAlgError = numpy.linalg.LinAlgError


class RandomNumbers:
    """``numpy.random`` for one backend: NumPy draws, so that a seed means the same everywhere.

    Args:
        backend: The backend.
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._state = numpy.random.RandomState()
        self.RandomState = numpy.random.RandomState

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        source = getattr(self._state, name)
        backend = self._backend

        def draw(*args: ArrayLike, **kwargs: Any) -> Any:
            # Generators of NumPy's old interface have no dtype, except randint.
            dtype = kwargs.pop("dtype", None) if name not in ("randint",) else None
            arrays = fallback.arrays_in((args, kwargs))
            result = source(*fallback.to_host(backend, args), **fallback.to_host(backend, kwargs))
            if dtype is not None:
                result = numpy.asarray(result).astype(dtype)
            if name in ("seed", "get_state", "set_state"):
                return result
            return fallback.lift(backend, numpy.asarray(result), arrays)

        draw.__name__ = name
        return draw

    def shuffle(self, x: ArrayLike) -> None:
        """Shuffles an array along its first axis, in place.

        Args:
            x: The array.
        """
        x[...] = x[self.permutation(len(x))]
