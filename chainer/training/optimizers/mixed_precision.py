"""Mixed precision in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.autograd.parameter import Parameter
from chainer.core.installation import install_command
from chainer.links.hooks.cast_inputs import CastInputs
from chainer.links.link import Link

if TYPE_CHECKING:
    from chainer.core.typing import DTypeLike
    from chainer.training.optimizers.optimizer import GradientMethod

#: Links of this package compute statistics, and keep their parameters in float32, as mixed16 does.
_NORMALIZATIONS = "chainer.links.normalization."


def use_mixed_precision(optimizer: GradientMethod, target: Link, dtype: DTypeLike) -> None:
    """Makes a model compute in 16 bits; see :meth:`chainer.GradientMethod.mixed_precision`.

    Args:
        optimizer: Its optimizer.
        target: The model.
        dtype: float16 or bfloat16.

    Raises:
        TypeError: If the dtype has not 16 bits.
        ImportError: If ``ml_dtypes`` is not installed, which bfloat16 needs.
        RuntimeError: If the optimizer has made updates already.
    """
    if dtype == "bfloat16":
        try:
            import ml_dtypes  # noqa: F401  # registers the name with NumPy
        except ImportError as error:
            raise ImportError(
                f"dtype='bfloat16' needs ml_dtypes: {install_command('ml_dtypes')}"
            ) from error
    half = numpy.dtype(dtype)
    if not is_half(half):
        raise TypeError(f"dtype must be float16 or bfloat16, got {half.name}")
    if optimizer.t:
        raise RuntimeError(
            f"the optimizer has made {optimizer.t} updates; call mixed_precision() right after "
            "setup(), as states of float32 do not fit the parameters any more"
        )
    for link in target.links():
        if _is_normalization(link):
            continue
        # Own parameters only: the parameters of children are seen with the children.
        params = [link.__dict__[name] for name in link._params]  # pyright: ignore[reportPrivateUsage]
        converted = [_convert(param, half) for param in params if isinstance(param, Parameter)]
        if any(converted) and CastInputs.name not in link.local_link_hooks:
            link.add_hook(CastInputs(half))
    optimizer.use_fp32_update()
    if half == numpy.float16:  # bfloat16 has the range of float32
        optimizer.loss_scaling()


def _is_normalization(link: Link) -> bool:
    return any(f"{cls.__module__}.".startswith(_NORMALIZATIONS) for cls in type(link).__mro__)


def _convert(param: Parameter, half: numpy.dtype[numpy.generic]) -> bool:
    """Converts a parameter of floating point numbers, and tells whether it has 16 bits now."""
    if not param.is_initialized:
        if getattr(param.initializer, "dtype", None) in (None, numpy.dtype(numpy.float32)):
            param.initializer.dtype = half
            return True
        return False
    if param.dtype == numpy.float32:
        param.array = param.array.astype(half)
        param.cleargrad()
    return param.dtype == half
