"""Weight initializers (public module ``chainer.initializers``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy

from chainer.core.arguments import wrong_type
from chainer.core.arrays.backend import get_device, is_array
from chainer.core.config.dtype import get_dtype
from chainer.core.lazy import lazy_module
from chainer.core.registry import registries
from chainer.core.typing import (
    Array,
    ArrayModule,
    DeviceLike,
    DTypeLike,
    InitializerLike,
    ShapeLike,
)
from chainer.links.initializer import Initializer as Initializer

if TYPE_CHECKING:
    from chainer.links.initializers.constant import Constant, Identity, NaN, One, Zero
    from chainer.links.initializers.normal import GlorotNormal, HeNormal, LeCunNormal, Normal
    from chainer.links.initializers.orthogonal import Orthogonal
    from chainer.links.initializers.sampling import DownsamplingConvFilter, UpsamplingDeconvFilter
    from chainer.links.initializers.uniform import GlorotUniform, HeUniform, LeCunUniform, Uniform

MODULES: dict[str, tuple[str, ...]] = {
    "constant": ("Constant", "Identity", "NaN", "One", "Zero"),
    "normal": ("GlorotNormal", "HeNormal", "LeCunNormal", "Normal"),
    "orthogonal": ("Orthogonal",),
    "sampling": ("DownsamplingConvFilter", "UpsamplingDeconvFilter"),
    "uniform": ("GlorotUniform", "HeUniform", "LeCunUniform", "Uniform"),
}

__all__ = [
    "Constant",
    "DownsamplingConvFilter",
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
    "UpsamplingDeconvFilter",
    "Zero",
    "generate_array",
    "get_initializer",
]


def generate_array(
    initializer: Callable[[Array], None],
    shape: ShapeLike,
    xp: ArrayModule,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
) -> Array:
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
        ValueError: If ``dtype`` differs from the data type of the initializer, or the device from
            ``xp``.
    """
    # The dtype of the initializer is a promise to the user, which an argument must not break.
    own = getattr(initializer, "dtype", None)
    if own is not None and dtype is not None and numpy.dtype(own) != numpy.dtype(dtype):
        raise ValueError(f"dtype mismatch: {dtype} != {own}, the dtype of the initializer")
    dtype = get_dtype(dtype if own is None else own)
    if isinstance(shape, (int, numpy.integer)):
        shape = (int(shape),)
    if device is None:
        if not hasattr(xp, "empty"):
            raise wrong_type("xp", "an array module such as numpy", xp)
        array = xp.empty(tuple(shape), dtype=dtype)
        initializer(array)
        return array
    target = get_device(device)
    if target.xp is not xp:
        if not hasattr(xp, "__name__"):
            raise wrong_type("xp", "an array module such as numpy", xp)
        raise ValueError(f"device must be one of {xp.__name__}, got {target}")
    with target.backend.use(target):
        array = xp.empty(tuple(shape), dtype=dtype)
        initializer(array)
        return array


def get_initializer(
    initializer: InitializerLike, default: InitializerLike = None
) -> Callable[[Array], None]:
    """Returns the initializer for what links accept as one.

    Args:
        initializer: A scalar or an array (:class:`Constant`), a callable, or None for the default.
        default: Initializer that None means; :class:`LeCunNormal` if this is None, too.

    Returns:
        callable: The initializer.

    Raises:
        TypeError: If it is something else.
    """
    from chainer.links.initializers.constant import Constant
    from chainer.links.initializers.normal import LeCunNormal

    if initializer is None:
        return LeCunNormal() if default is None else get_initializer(default)
    if _is_scalar(initializer) or is_array(initializer):
        return Constant(initializer)
    _check_is_initializer_like(initializer)
    return cast("Callable[[Array], None]", initializer)


def _check_is_initializer_like(initializer: object) -> None:
    """Raises TypeError unless links accept an object as an initializer."""
    if not (
        initializer is None
        or _is_scalar(initializer)
        or is_array(initializer)
        or callable(initializer)
    ):
        raise TypeError(
            "initializer must be None, a scalar, an array or a callable such as an Initializer, "
            f"got {type(initializer).__name__}"
        )


def _is_scalar(value: object) -> bool:
    # numpy.isscalar is true for texts, too, which no array can be filled with.
    return isinstance(value, (int, float, complex, numpy.generic))


#: Name under which programs written for earlier releases know :func:`get_initializer`.
_get_initializer = get_initializer

# Imported at first use. A package that imports its modules can be stopped by a thread that imports
# one of them at the same time, see chainer.core.imports.
_NAMES = {name: f".{module}" for module, names in MODULES.items() for name in names}

__getattr__, __dir__ = lazy_module(globals(), _NAMES, registry=registries.initializers)
