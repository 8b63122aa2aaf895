"""Functions that reduce or accumulate along axes. Results without axes are arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api import dtypes
from chainer_array_api.array import Array
from chainer_array_api.functions import operands
from chainer_array_api.functions.operands import Backend, axes_of, axis_of, deliver

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike


def _axis(axis: Any, ndim: int) -> Any:
    if axis is None:
        return None
    axes = axes_of(axis, ndim)
    if len(set(axes)) < len(axes):
        raise ValueError(f"an axis comes twice in {axis}")
    return axes if isinstance(axis, (tuple, list)) else axes[0]


def _adding(
    b: Backend, name: str, a: ArrayLike, axis: Any, dtype: DTypeLike, out: ArrayLike, keepdims: bool
):
    x = operands.array(b, a)
    # By default the standard sums small integers in the library's default integer, which may be
    # int32: NumPy's dtype is named.
    dtype = dtypes.of_sum(x.dtype) if dtype is None else numpy.dtype(dtype)
    native = operands.cast(b, x, dtype)
    reduce = getattr(b.nx, name)
    result = reduce(native, axis=_axis(axis, x.ndim), dtype=native.dtype, keepdims=bool(keepdims))
    return deliver(b, result, out, name)


def sum(
    b: Backend,
    a: ArrayLike,
    axis: Any = None,
    dtype: DTypeLike = None,
    out: ArrayLike = None,
    keepdims: bool = False,
) -> Array:
    """As :func:`numpy.sum`."""
    return _adding(b, "sum", a, axis, dtype, out, keepdims)


def prod(
    b: Backend,
    a: ArrayLike,
    axis: Any = None,
    dtype: DTypeLike = None,
    out: ArrayLike = None,
    keepdims: bool = False,
) -> Array:
    """As :func:`numpy.prod`."""
    return _adding(b, "prod", a, axis, dtype, out, keepdims)


def mean(
    b: Backend,
    a: ArrayLike,
    axis: Any = None,
    dtype: DTypeLike = None,
    out: ArrayLike = None,
    keepdims: bool = False,
) -> Array:
    """As :func:`numpy.mean`."""
    x = operands.array(b, a)
    native = operands.cast(b, x, dtypes.of_mean(x.dtype) if dtype is None else numpy.dtype(dtype))
    result = b.nx.mean(native, axis=_axis(axis, x.ndim), keepdims=bool(keepdims))
    return deliver(b, result, out, "mean")


def var(
    b: Backend,
    a: ArrayLike,
    axis: Any = None,
    dtype: DTypeLike = None,
    out: ArrayLike = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
) -> Array:
    """As :func:`numpy.var`; ``correction`` is the standard's name of ``ddof``."""
    if correction is not None:
        if ddof:
            raise ValueError("ddof and correction are two names of one argument: give one of them")
        ddof = correction
    x = operands.array(b, a)
    x = operands.astype(b, x, dtypes.of_mean(x.dtype) if dtype is None else dtype, copy=False)
    count = math.prod(x.shape[i] for i in axes_of(axis, x.ndim))
    deviation = x - mean(b, x, axis, keepdims=True)
    # The square of a complex number is not its squared length.
    square = deviation * deviation if x.dtype.kind != "c" else b.xp.abs(deviation) ** 2
    result = sum(b, square, axis, keepdims=keepdims) / max_of(count - ddof)
    return deliver(b, result.native, out, "var")


def max_of(count: float) -> float:
    """Returns what a sum of squares is divided by; NaN results where nothing is left.

    Args:
        count: Number of elements less the degrees of freedom.
    """
    return count if count > 0 else math.nan


def std(b: Backend, a: ArrayLike, *args: ArrayLike, out: ArrayLike = None, **kwargs: Any) -> Array:
    """As :func:`numpy.std`."""
    return deliver(b, b.xp.sqrt(var(b, a, *args, **kwargs)).native, out, "std")


def _ordering(
    b: Backend, name: str, a: ArrayLike, axis: Any, out: ArrayLike, keepdims: bool
) -> Array:
    x = operands.array(b, a)
    axis = _axis(axis, x.ndim)
    if not math.prod(x.shape[i] for i in axes_of(axis, x.ndim)):
        raise ValueError(f"zero-size array to reduction operation {name}imum has no identity")
    # The standard orders numbers only; False and True become 0 and 1.
    boolean = x.dtype.kind == "b"
    native = operands.cast(b, x, numpy.dtype(numpy.uint8)) if boolean else x.native
    result = getattr(b.nx, name)(native, axis=axis, keepdims=bool(keepdims))
    if boolean:
        result = b.nx.astype(result, b.nx.bool)
    return deliver(b, result, out, name)


def max(
    b: Backend, a: ArrayLike, axis: Any = None, out: ArrayLike = None, keepdims: bool = False
) -> Array:
    """As :func:`numpy.max`."""
    return _ordering(b, "max", a, axis, out, keepdims)


def min(
    b: Backend, a: ArrayLike, axis: Any = None, out: ArrayLike = None, keepdims: bool = False
) -> Array:
    """As :func:`numpy.min`."""
    return _ordering(b, "min", a, axis, out, keepdims)


amax, amin = max, min


def ptp(
    b: Backend, a: ArrayLike, axis: Any = None, out: ArrayLike = None, keepdims: bool = False
) -> Array:
    """As :func:`numpy.ptp`."""
    result = max(b, a, axis, keepdims=keepdims) - min(b, a, axis, keepdims=keepdims)
    return deliver(b, result.native, out, "ptp")


def _arg(b: Backend, name: str, a: ArrayLike, axis: Any, out: ArrayLike, keepdims: bool) -> Array:
    x = operands.array(b, a)
    axis = None if axis is None else axis_of(axis, x.ndim)
    if not (x.size if axis is None else x.shape[axis]):
        raise ValueError(f"attempt to get {name} of an empty sequence")
    native = operands.cast(b, x, numpy.dtype(numpy.uint8)) if x.dtype.kind == "b" else x.native
    result = getattr(b.nx, name)(native, axis=axis, keepdims=bool(keepdims))
    return deliver(b, b.nx.astype(result, b.nx.int64, copy=False), out, name)


def argmax(
    b: Backend, a: ArrayLike, axis: Any = None, out: ArrayLike = None, *, keepdims: bool = False
):
    """As :func:`numpy.argmax`."""
    return _arg(b, "argmax", a, axis, out, keepdims)


def argmin(
    b: Backend, a: ArrayLike, axis: Any = None, out: ArrayLike = None, *, keepdims: bool = False
):
    """As :func:`numpy.argmin`."""
    return _arg(b, "argmin", a, axis, out, keepdims)


def _logical(
    b: Backend, name: str, a: ArrayLike, axis: Any, out: ArrayLike, keepdims: bool
) -> Array:
    x = operands.array(b, a)
    native = operands.cast(b, x, numpy.dtype(bool))
    result = getattr(b.nx, name)(native, axis=_axis(axis, x.ndim), keepdims=bool(keepdims))
    return deliver(b, result, out, name)


def any(
    b: Backend, a: ArrayLike, axis: Any = None, out: ArrayLike = None, keepdims: bool = False
) -> Array:
    """As :func:`numpy.any`."""
    return _logical(b, "any", a, axis, out, keepdims)


def all(
    b: Backend, a: ArrayLike, axis: Any = None, out: ArrayLike = None, keepdims: bool = False
) -> Array:
    """As :func:`numpy.all`."""
    return _logical(b, "all", a, axis, out, keepdims)


def count_nonzero(b: Backend, a: ArrayLike, axis: Any = None, *, keepdims: bool = False) -> Array:
    """As :func:`numpy.count_nonzero`."""
    return sum(b, operands.array(b, a) != 0, axis, keepdims=keepdims)


def _accumulating(
    b: Backend, name: str, a: ArrayLike, axis: Any, dtype: DTypeLike, out: ArrayLike
) -> Array:
    x = operands.array(b, a)
    dtype = dtypes.of_sum(x.dtype) if dtype is None else numpy.dtype(dtype)
    native = operands.cast(b, x, dtype)
    if axis is None:
        # The standard accumulates along one axis; NumPy without an axis takes all elements.
        native, axis = b.nx.reshape(native, (-1,)), 0
    axis = axis_of(axis, native.ndim)
    return deliver(b, getattr(b.nx, name)(native, axis=axis, dtype=native.dtype), out, name)


def cumsum(
    b: Backend, a: ArrayLike, axis: Any = None, dtype: DTypeLike = None, out: ArrayLike = None
) -> Array:
    """As :func:`numpy.cumsum`."""
    return _accumulating(b, "cumulative_sum", a, axis, dtype, out)


def cumprod(
    b: Backend, a: ArrayLike, axis: Any = None, dtype: DTypeLike = None, out: ArrayLike = None
) -> Array:
    """As :func:`numpy.cumprod`."""
    return _accumulating(b, "cumulative_prod", a, axis, dtype, out)


def diff(
    b: Backend,
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Array:
    """As :func:`numpy.diff`."""
    x = operands.array(b, a)
    axis = axis_of(axis, x.ndim)
    ends = [part for part in (prepend, append) if part is not None]
    if ends:
        # A number is one more element at each place along the axis.
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        parts = [b.xp.asarray(end) for end in ends]
        parts = [part if part.ndim else b.xp.broadcast_to(part, shape) for part in parts]
        parts.insert(0 if prepend is None else 1, x)
        x = b.xp.concatenate(parts, axis=axis)
    before = (slice(None),) * axis
    for _ in range(n):
        x = x[(*before, slice(1, None))] - x[(*before, slice(None, -1))]
    return x


def average(b: Backend, a: ArrayLike, axis: Any = None, weights: ArrayLike = None) -> Array:
    """As :func:`numpy.average`, without its further results."""
    if weights is None:
        return mean(b, a, axis)
    return sum(b, a * weights, axis) / sum(b, weights, axis)
