"""Operators that reduce axes, and cumulative sums and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.values import Tensor, array_of, is_float, ndim_of, number_of

if TYPE_CHECKING:
    from chainer.typing import Array, ArrayModule

#: Tensor of an empty maximum or minimum by kind of dtype and sign.
_INFINITE = {"ReduceMax": -numpy.inf, "ReduceMin": numpy.inf}


def _reduction(
    name: str, function: Callable[..., Any], array_function: Callable[..., Any]
) -> Callable[..., Any]:
    """Makes the operator of a reduction.

    Args:
        name: Name of the operator.
        function: Reduction of floating-point numbers: of a tensor, axes and whether axes stay.
        array_function: Reduction of integers: of an array namespace, an array, axes and that.
    """

    def compute(attributes: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
        found = attributes.axes(axes)
        array = array_of(x)
        if not found:
            if attributes.get("noop_with_empty_axes", 0):
                # No axis is reduced, but what the reduction does to each element is done.
                found = ()
            else:
                found = tuple(range(array.ndim))
        keepdims = bool(attributes.get("keepdims", 1))
        found = tuple([axis % max(array.ndim, 1) for axis in found])
        if name in _INFINITE and 0 in [array.shape[axis] for axis in found]:
            return _empty(array, found, keepdims, _INFINITE[name])
        if not is_float(x):
            y = array_function(get_array_module(array), array, found, keepdims)
            return numpy.asarray(y).astype(array.dtype)
        if not found:
            # Chainer's functions take an empty tuple for all axes.
            return F.reshape(function(F.expand_dims(x, 0), (0,), False), array.shape)
        return function(x, found, keepdims)

    return compute


def _empty(array: Array, axes: tuple[int, ...], keepdims: bool, value: float) -> Any:
    """Returns the maximum or minimum of no elements: an infinity, or the last integer."""
    shape = [1 if i in axes else n for i, n in enumerate(array.shape) if keepdims or i not in axes]
    kind = array.dtype.kind
    fill: Any = value
    if kind in "iu":
        limits = numpy.iinfo(array.dtype)
        fill = limits.min if value < 0 else limits.max
    elif kind == "b":
        fill = value > 0
    return get_array_module(array).full(shape, fill, array.dtype)


def _log_sum_exp(x: Array, axes: Any, keepdims: bool) -> Any:
    y = F.logsumexp(x, axes)
    if keepdims:
        for axis in sorted([a % ndim_of(x) for a in axes]):
            y = F.expand_dims(y, axis)
    return y


def _prod(x: Array, axes: Any, keepdims: bool) -> Any:
    return F.prod(x, axes, keepdims)


def _of_arrays(name: str) -> Callable[..., Any]:
    def compute(xp: ArrayModule, array: Array, axes: Any, keepdims: bool) -> Any:
        return getattr(xp, name)(array, axis=axes, keepdims=keepdims)

    return compute


def _l2(xp: ArrayModule, array: Array, axes: Any, keepdims: bool) -> Any:
    # Squares of small integers would overflow their dtype.
    return xp.sqrt((array.astype("d") ** 2).sum(axis=axes, keepdims=keepdims))


def _logarithm(inner: Callable[..., Any]) -> Callable[..., Any]:
    def compute(xp: ArrayModule, array: Array, axes: Any, keepdims: bool) -> Any:
        return xp.log(inner(xp, array, axes, keepdims))

    return compute


def _sum_of_exponentials(xp: ArrayModule, array: Array, axes: Any, keepdims: bool) -> Any:
    return xp.exp(array.astype("d")).sum(axis=axes, keepdims=keepdims)


_sum_of_arrays = _of_arrays("sum")


def _index_of(name: str) -> Callable[..., Any]:
    def compute(attributes: Attributes, x: Tensor) -> Tensor:
        array = array_of(x)
        xp = get_array_module(array)
        axis = attributes.get("axis", 0) % array.ndim
        if attributes.get("select_last_index", 0):
            # argmax and argmin return the first of equal elements.
            index = getattr(xp, name)(xp.flip(array, axis), axis=axis)
            index = array.shape[axis] - 1 - index
        else:
            index = getattr(xp, name)(array, axis=axis)
        index = index.astype(numpy.int64)
        return xp.expand_dims(index, axis) if attributes.get("keepdims", 1) else index

    return compute


def _cumulative(function: Callable[..., Any], array_name: str, first: int) -> Callable[..., Any]:
    """Makes a cumulative operator.

    Args:
        function: Chainer's function.
        array_name: The function of arrays.
        first: Result of no elements, which an exclusive sum or product begins with.
    """

    def compute(attributes: Attributes, x: Tensor, axis: Tensor) -> Tensor:
        ndim = ndim_of(x)
        place = int(number_of(axis)) % ndim
        backward = bool(attributes.get("reverse", 0))
        if not is_float(x):
            flip = get_array_module(array_of(x)).flip
            y = array_of(x)
        else:
            flip, y = F.flip, x
        y = flip(y, place) if backward else y
        if attributes.get("exclusive", 0):
            y = _shifted(y, place, first)
        if is_float(x):
            y = function(y, place)
        else:
            xp = get_array_module(y)
            # NumPy would widen small integers; the output has the dtype of the input.
            y = getattr(xp, array_name)(y, axis=place, dtype=y.dtype)
        return flip(y, place) if backward else y

    return compute


def _shifted(y: Array, axis: int, first: int) -> Any:
    """Returns an array without its last element, behind a constant."""
    index = (*[slice(None)] * axis, slice(0, -1))
    array = array_of(y)
    xp = get_array_module(array)
    head = xp.full((*array.shape[:axis], 1, *array.shape[axis + 1 :]), first, array.dtype)
    if is_float(y):
        return F.concat([head, F.get_item(y, index)], axis=axis)
    return xp.concatenate([head, array[index]], axis=axis)


OPERATORS: dict[str, Callable[..., Any]] = {
    "ArgMax": _index_of("argmax"),
    "ArgMin": _index_of("argmin"),
    "CumProd": _cumulative(F.cumprod, "cumprod", 1),
    "CumSum": _cumulative(F.cumsum, "cumsum", 0),
    "ReduceL1": _reduction(
        "ReduceL1",
        lambda x, axes, keep: F.sum(F.absolute(x), axes, keep),
        lambda xp, x, axes, keep: xp.absolute(x).sum(axis=axes, keepdims=keep),
    ),
    "ReduceL2": _reduction("ReduceL2", lambda x, axes, keep: F.sqrt(F.sum(x * x, axes, keep)), _l2),
    "ReduceLogSum": _reduction(
        "ReduceLogSum",
        lambda x, axes, keep: F.log(F.sum(x, axes, keep)),
        _logarithm(_sum_of_arrays),
    ),
    "ReduceLogSumExp": _reduction(
        "ReduceLogSumExp", _log_sum_exp, _logarithm(_sum_of_exponentials)
    ),
    "ReduceMax": _reduction("ReduceMax", F.max, _of_arrays("max")),
    "ReduceMean": _reduction(
        "ReduceMean",
        lambda x, axes, keep: F.average(x, axes, keepdims=keep),
        _of_arrays("mean"),
    ),
    "ReduceMin": _reduction("ReduceMin", F.min, _of_arrays("min")),
    "ReduceProd": _reduction("ReduceProd", _prod, _of_arrays("prod")),
    "ReduceSum": _reduction("ReduceSum", F.sum, _sum_of_arrays),
    "ReduceSumSquare": _reduction(
        "ReduceSumSquare",
        lambda x, axes, keep: F.sum(x * x, axes, keep),
        lambda xp, x, axes, keep: (x * x).sum(axis=axes, keepdims=keep),
    ),
}
