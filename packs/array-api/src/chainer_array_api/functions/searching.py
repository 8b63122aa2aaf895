"""Functions that sort, search and count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api.array import Array
from chainer_array_api.functions import operands
from chainer_array_api.functions.operands import Backend, axis_of

if TYPE_CHECKING:
    from chainer.typing import ArrayLike


def nonzero(b: Backend, a: ArrayLike) -> tuple[Array, ...]:
    """As :func:`numpy.nonzero`."""
    x = operands.array(b, a)
    if not x.ndim:
        raise ValueError("nonzero() of an array without axes; use atleast_1d(a).nonzero()")
    return tuple(map(b.array_class, b.nx.nonzero(x.native)))


def flatnonzero(b: Backend, a: ArrayLike) -> Array:
    """As :func:`numpy.flatnonzero`."""
    return nonzero(b, operands.array(b, a).reshape(-1))[0]


def argwhere(b: Backend, a: ArrayLike) -> Array:
    """As :func:`numpy.argwhere`."""
    return b.xp.stack(nonzero(b, a), axis=1)


def _line(b: Backend, a: ArrayLike, axis: Any) -> tuple[Array, int]:
    x = operands.array(b, a)
    return (x.reshape(-1), 0) if axis is None else (x, axis_of(axis, x.ndim))


def _sorted(b: Backend, name: str, a: ArrayLike, axis: int | None, descending: bool) -> Array:
    x, axis = _line(b, a, axis)
    # The standard does not sort booleans.
    native = operands.cast(b, x, numpy.dtype("uint8")) if x.dtype.kind == "b" else x.native
    order = {"descending": True} if descending else {}
    result = b.array_class(getattr(b.nx, name)(native, axis=axis, stable=True, **order))
    return result.astype(x.dtype) if name == "sort" and x.dtype.kind == "b" else result


def sort(
    b: Backend,
    a: ArrayLike,
    axis: int | None = -1,
    kind: Any = None,
    *,
    descending: bool = False,
    stable: Any = True,
) -> Array:
    """As :func:`numpy.sort`; always stable. ``descending`` is an argument of the standard."""
    return _sorted(b, "sort", a, axis, descending)


def argsort(
    b: Backend,
    a: ArrayLike,
    axis: int | None = -1,
    kind: Any = None,
    *,
    descending: bool = False,
    stable: Any = True,
) -> Array:
    """As :func:`numpy.argsort`; always stable. ``descending`` is an argument of the standard."""
    return _sorted(b, "argsort", a, axis, descending)


def partition(b: Backend, a: ArrayLike, kth: Any, axis: int | None = -1, **_: Any) -> Array:
    """As :func:`numpy.partition`: sorts."""
    return sort(b, a, axis)


def argpartition(b: Backend, a: ArrayLike, kth: Any, axis: int | None = -1, **_: Any) -> Array:
    """As :func:`numpy.argpartition`: sorts."""
    return argsort(b, a, axis)


def searchsorted(
    b: Backend, a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike = None
) -> Array:
    """As :func:`numpy.searchsorted`."""
    x = operands.array(b, a)
    if sorter is not None:
        x = b.xp.take(x, sorter)
    first, second = operands.together(b, (x, v))
    shape = tuple(second.shape)
    found = b.nx.searchsorted(first, b.nx.reshape(second, (-1,)), side=side)
    return b.array_class(b.nx.astype(b.nx.reshape(found, shape), b.nx.int64, copy=False))


def unique(b: Backend, ar: ArrayLike, *args: ArrayLike, **kwargs: Any) -> Any:
    """As :func:`numpy.unique`; NumPy itself serves further results."""
    if args or kwargs:
        return b.xp.on_host("unique")(ar, *args, **kwargs)
    return sort(b, b.array_class(b.nx.unique_values(operands.array(b, ar).native)))


def isin(
    b: Backend,
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Array:
    """As :func:`numpy.isin`.

    ``assume_unique`` and ``kind`` change only the way in which NumPy computes: they have no effect.
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"kind of isin() must be None, 'sort' or 'table', got {kind!r}")
    x = operands.array(b, element)
    tests = sort(b, test_elements, None)
    if not tests.size:
        return b.xp.full_like(x, invert, dtype=bool)
    # An element above all tests is found behind the last one, where no index is.
    found = b.xp.minimum(searchsorted(b, tests, x), tests.size - 1)
    result = b.xp.take(tests, found) == x
    return b.xp.logical_not(result) if invert else result


def iscomplexobj(b: Backend, x: ArrayLike) -> bool:
    """As :func:`numpy.iscomplexobj`."""
    return numpy.dtype(getattr(x, "dtype", type(x))).kind == "c"


def shape(b: Backend, a: ArrayLike) -> tuple[int, ...]:
    """As :func:`numpy.shape`."""
    return operands.array(b, a).shape


def ndim(b: Backend, a: ArrayLike) -> int:
    """As :func:`numpy.ndim`."""
    return operands.array(b, a).ndim


def size(b: Backend, a: ArrayLike, axis: int | None = None) -> int:
    """As :func:`numpy.size`."""
    x = operands.array(b, a)
    return x.size if axis is None else x.shape[axis]
