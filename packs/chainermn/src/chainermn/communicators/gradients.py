"""Gradients of a model in the order and form in which they are exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer.backend import backend_of

if TYPE_CHECKING:
    from chainer.typing import Array, DTypeLike


def initialized_params(model: chainer.Link) -> list[tuple[str, chainer.Parameter]]:
    """Returns names and parameters that have data, sorted by name: alike in all processes."""
    return [(name, p) for name, p in sorted(model.namedparams()) if p.array is not None]


def prepare_gradients(model: chainer.Link, zero_fill: bool) -> list[chainer.Parameter]:
    """Returns the parameters whose gradients take part in a mean, in the order of their names.

    Args:
        model: The model.
        zero_fill: Whether missing gradients become zeros; otherwise they are left out.
    """
    params: list[chainer.Parameter] = []
    for _, param in initialized_params(model):
        if param.grad is None:
            if not zero_fill:
                continue
            with param.device:
                param.grad = backend_of(param.array).xp.zeros_like(param.array)
        params.append(param)
    return params


def pack(params: Sequence[chainer.Parameter], dtype: DTypeLike, attribute: str = "grad") -> Array:
    """Returns the gradients of parameters in one flat array.

    Args:
        params: Parameters on one device.
        dtype: dtype of the result.
        attribute: ``grad`` or ``array``.
    """
    xp = backend_of(params[0].array).xp
    parts = [getattr(p, attribute).reshape(-1).astype(dtype, copy=False) for p in params]
    return xp.concatenate(parts)


def unpack(params: Sequence[chainer.Parameter], buffer: Array, attribute: str = "grad") -> None:
    """Writes an array that :func:`pack` made into the gradients, with the dtype of each."""
    start = 0
    for param in params:
        target = getattr(param, attribute)
        stop = start + target.size
        target[...] = buffer[start:stop].reshape(target.shape).astype(target.dtype, copy=False)
        start = stop


def check_float_dtype(dtype: DTypeLike, name: str = "allreduce_grad_dtype") -> Any:
    """Returns a dtype in which gradients may travel.

    Args:
        dtype: float16, bfloat16, float32 or float64, or None.
        name: Name of the argument, for the message.

    Returns:
        str or None: Name of the dtype.

    Raises:
        ValueError: If it is another one.
    """
    if dtype is None:
        return None
    text = dtype if dtype == "bfloat16" else getattr(dtype, "__name__", None)
    if text != "bfloat16":
        try:
            text = numpy.dtype(dtype).name
        except TypeError:
            text = repr(dtype)
    if text not in ("float16", "bfloat16", "float32", "float64"):
        raise ValueError(
            f"{name} must be None, float16, bfloat16, float32 or float64, got {dtype!r}"
        )
    return text
