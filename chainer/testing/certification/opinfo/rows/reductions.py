"""Functions along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.testing.certification.opinfo.row import (
    Difference,
    Row,
    keyword,
    without_axes,
)

_NO_DTYPE = keyword("dtype", "the result has the dtype of the input: F.cast changes it")
_DECLARED = (_NO_DTYPE, without_axes)
_OF_ONE = (
    Difference(
        "two arrays: that is F.maximum and F.minimum",
        lambda given: hasattr(given.get(1, "dim"), "shape"),
    ),
    without_axes,
)


def _reduced(name: str) -> Callable[..., Any]:
    return lambda F, x, dim=None, keepdim=False: getattr(F, name)(x, axis=dim, keepdims=keepdim)


def _along(name: str) -> Callable[..., Any]:
    return lambda F, x, dim=None: getattr(F, name)(x, axis=dim)


def _kept(name: str) -> Callable[..., Any]:
    """Adapts a function that has no argument ``keepdims``."""

    def call(F: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        y = getattr(F, name)(x, axis=dim)
        axes = (dim,) if isinstance(dim, int) else dim
        if not keepdim:
            return y
        shape = list(x.shape)
        for axis in axes:
            shape[axis] = 1
        return F.reshape(y, shape)

    return call


def _sum_to(F: Any, x: Any, *shape: Any) -> Any:
    return F.sum_to(x, shape if all(isinstance(n, int) for n in shape) else tuple(shape[0]))


ROWS = (
    Row("sum", "sum", _reduced("sum"), differences=_DECLARED),
    Row("mean", "mean", _reduced("mean"), differences=_DECLARED),
    Row("average", "mean", _reduced("average"), differences=_DECLARED),
    Row("prod", "prod", _reduced("prod"), differences=_DECLARED),
    Row("max", "max", _reduced("max"), (0,), _OF_ONE),
    Row("min", "min", _reduced("min"), (0,), _OF_ONE),
    Row("argmax", "argmax", _kept("argmax"), differences=(without_axes,)),
    Row("argmin", "argmin", _kept("argmin"), differences=(without_axes,)),
    Row("cumsum", "cumsum", _along("cumsum"), differences=_DECLARED),
    Row("cumprod", "cumprod", _along("cumprod"), differences=_DECLARED),
    Row("logsumexp", "logsumexp", _kept("logsumexp"), differences=(without_axes,)),
    Row("softmax", "softmax", _along("softmax"), differences=_DECLARED),
    Row("log_softmax", "log_softmax", _along("log_softmax"), differences=_DECLARED),
    Row("sum_to", "sum_to_size", _sum_to),
)
