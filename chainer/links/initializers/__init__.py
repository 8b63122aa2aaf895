"""Weight initializers (public module ``chainer.initializers``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.arrays.backend import get_device, is_array
from chainer.core.config.configuration import config
from chainer.core.lazy import lazy_module
from chainer.core.registry import registries
from chainer.links.initializer import Initializer as Initializer
from chainer.links.initializers.constant import Constant, Identity, NaN, One, Zero
from chainer.links.initializers.normal import GlorotNormal, HeNormal, LeCunNormal, Normal
from chainer.links.initializers.orthogonal import Orthogonal
from chainer.links.initializers.uniform import GlorotUniform, HeUniform, LeCunUniform, Uniform

MODULES: dict[str, tuple[str, ...]] = {
    "constant": ("Constant", "Identity", "NaN", "One", "Zero"),
    "normal": ("GlorotNormal", "HeNormal", "LeCunNormal", "Normal"),
    "orthogonal": ("Orthogonal",),
    "uniform": ("GlorotUniform", "HeUniform", "LeCunUniform", "Uniform"),
}

__all__ = [
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Identity",
    "LeCunNormal",
    "LeCunUniform",
    "NaN",
    "Normal",
    "One",
    "Orthogonal",
    "Uniform",
    "Zero",
    "generate_array",
    "get_initializer",
]


def generate_array(
    initializer: Any,
    shape: int | Sequence[int],
    xp: Any,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """Makes a new array of a shape by an initializer.

    Args:
        initializer (callable): Initializer, or any callable that fills an array in place. If it has
            an attribute ``dtype``, that is the data type of the array.
        shape (int or tuple of int): Shape.
        xp (module): Array namespace: ``numpy``, ``cupy``, ...
        dtype: Data type for initializers without one; ``chainer.config.dtype`` (float32) by
            default.
        device: Device to make the array on; the current one by default.

    Returns:
        array: The initialized array.

    Raises:
        ValueError: If ``dtype`` differs from the data type of the initializer.
    """
    own = getattr(initializer, "dtype", None)
    if own is not None and dtype is not None and numpy.dtype(own) != numpy.dtype(dtype):
        raise ValueError(f"dtype mismatch: {dtype} != {own}, the dtype of the initializer")
    dtype = own or dtype or config.dtype
    if isinstance(shape, (int, numpy.integer)):
        shape = (int(shape),)
    if device is not None:
        target = get_device(device)
        with target.backend.use(target):
            array = target.xp.empty(tuple(shape), dtype=dtype)
            initializer(array)
            return array
    array = xp.empty(tuple(shape), dtype=dtype)
    initializer(array)
    return array


def get_initializer(initializer: Any) -> Any:
    """Returns the initializer for what links accept as one.

    Args:
        initializer: None (:class:`LeCunNormal`), a scalar or an array (:class:`Constant`), or a
            callable.

    Raises:
        TypeError: If it is something else.
    """
    if initializer is None:
        return LeCunNormal()
    if isinstance(initializer, (int, float, complex, numpy.generic)) or is_array(initializer):
        return Constant(initializer)
    if not callable(initializer):
        raise TypeError(
            "initializer must be None, a scalar, an array or a callable such as an Initializer, "
            f"got {type(initializer).__name__}"
        )
    return initializer


#: Name under which programs written for earlier releases know :func:`get_initializer`.
_get_initializer = get_initializer

__getattr__, __dir__ = lazy_module(globals(), registry=registries.initializers)
