"""Functions that the array API standard defines and NumPy 2 has taken over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy

from chainer_array_api.array import Array
from chainer_array_api.functions import operands
from chainer_array_api.functions.creation import placed
from chainer_array_api.functions.operands import Backend, axis_of
from chainer_array_api.functions.searching import sort

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike


class UniqueAllResult(NamedTuple):
    """Result of :func:`unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """Result of :func:`unique_counts`."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """Result of :func:`unique_inverse`."""

    values: Array
    inverse_indices: Array


@placed
def astype(b: Backend, x: ArrayLike, dtype: DTypeLike, /, *, copy: bool = True) -> Array:
    """As :func:`numpy.astype`."""
    return operands.array(b, x).astype(dtype, copy=copy)


def _kind(value: Any) -> Any:
    """Returns what NumPy's rules of promotion look at: a dtype or a number of Python."""
    return value if isinstance(value, type) else getattr(value, "dtype", value)


def result_type(b: Backend, *arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """As :func:`numpy.result_type`."""
    return numpy.result_type(*map(_kind, arrays_and_dtypes))


def can_cast(b: Backend, from_: Any, to: DTypeLike, casting: Any = "safe") -> bool:
    """As :func:`numpy.can_cast`."""
    return numpy.can_cast(_kind(from_), to, casting)


def unique_values(b: Backend, x: ArrayLike) -> Array:
    """As :func:`numpy.unique_values`, sorted. NaN are not equal to each other."""
    array = operands.array(b, x)
    if array.dtype.kind == "c":  # the standard does not sort complex numbers
        return _unique(b, "unique", array)
    return sort(b, b.array_class(b.nx.unique_values(array.native)))


def _unique(b: Backend, name: str, x: ArrayLike) -> Any:
    # By NumPy: their sizes depend on the values, so that an accelerator has to wait anyway, and
    # libraries disagree about the order.
    return b.xp.on_host(name)(operands.array(b, x))


def unique_all(b: Backend, x: ArrayLike) -> UniqueAllResult:
    """As :func:`numpy.unique_all`; NumPy itself computes it."""
    return UniqueAllResult(*_unique(b, "unique_all", x))


def unique_counts(b: Backend, x: ArrayLike) -> UniqueCountsResult:
    """As :func:`numpy.unique_counts`; NumPy itself computes it."""
    return UniqueCountsResult(*_unique(b, "unique_counts", x))


def unique_inverse(b: Backend, x: ArrayLike) -> UniqueInverseResult:
    """As :func:`numpy.unique_inverse`; NumPy itself computes it."""
    return UniqueInverseResult(*_unique(b, "unique_inverse", x))


def unstack(b: Backend, x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """As :func:`numpy.unstack`."""
    array = operands.array(b, x)
    if not array.ndim:
        raise ValueError("unstack() needs an array with at least one axis")
    return tuple(b.xp.moveaxis(array, axis_of(axis, array.ndim), 0))


def vecdot(b: Backend, x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """As :func:`numpy.vecdot`: the first argument is conjugated."""
    first, second = operands.array(b, x1), operands.array(b, x2)
    if not (first.ndim and second.ndim and first.shape[axis] == second.shape[axis]):
        raise ValueError(
            f"vecdot() needs arrays with the same length of axis {axis}, got shapes "
            f"{first.shape} and {second.shape}"
        )
    one, other = (b.xp.moveaxis(x, axis, -1) for x in (first, second))
    return b.xp.matmul(b.xp.conj(one)[..., None, :], other[..., None])[..., 0, 0]


def matrix_transpose(b: Backend, x: ArrayLike, /) -> Array:
    """As :func:`numpy.matrix_transpose`."""
    array = operands.array(b, x)
    if array.ndim < 2:
        raise ValueError(f"matrix_transpose() needs at least two axes, got shape {array.shape}")
    return b.xp.swapaxes(array, -1, -2)


class Info:
    """What a namespace can do, as the array API standard asks for it.

    Args:
        backend: The backend.
    """

    __module__ = "chainer_array_api"

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def capabilities(self) -> dict[str, Any]:
        """Returns what the namespace supports beyond the minimum."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Returns the current device, as the library has it."""
        return self._backend.current_native_device

    def devices(self) -> list[Any]:
        """Returns the devices, as the library has them."""
        return list(self._backend.native_devices)

    def default_dtypes(self, *, device: Any = None) -> dict[str, numpy.dtype[Any]]:
        """Returns the dtypes of new arrays: NumPy's, where the library has them."""
        defaults = cast("dict[str, Any]", numpy.__array_namespace_info__().default_dtypes())
        known = set(self.dtypes().values())
        return {name: dtype for name, dtype in defaults.items() if dtype in known}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, numpy.dtype[Any]]:
        """Returns the dtypes that the library has.

        Args:
            device: Not observed.
            kind: One of the kinds of the standard, such as ``'real floating'``, or a tuple of some.
        """
        every = numpy.__array_namespace_info__().dtypes(kind=kind)
        # Of booleans, NumPy names a class.
        named = {name: numpy.dtype(dtype) for name, dtype in every.items()}
        known = set(self._backend.host_dtypes.values())
        return {name: dtype for name, dtype in named.items() if dtype in known}
