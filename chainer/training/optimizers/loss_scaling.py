"""Loss scaling: a factor on the loss that keeps small gradients from vanishing in float16.

:meth:`chainer.Variable.backward` multiplies the first gradient by the factor, and every parameter
remembers it (``param.loss_scale``). The gradient is divided by it again before it is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.device import Device
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.typing import Array
from chainer.core.utils.arrays import force_array

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter

#: Largest finite float16. A larger factor could not be represented as a gradient of the loss.
MAX_LOSS_SCALE = 65504.0


def check_loss_scale(loss_scale: float) -> None:
    """Raises ValueError unless a loss scale is a positive finite number."""
    if not (loss_scale > 0 and math.isfinite(loss_scale)):
        raise ValueError(f"loss_scale must be a positive finite number, got {loss_scale!r}")


class DynamicLossScaling:
    """Adapts the loss scale to the range of the gradients.

    The scale doubles at every update until a gradient overflows. It is halved at each overflow, and
    after the first one it grows slowly: by a factor of two within ``interval`` updates.

    Args:
        interval (int): Number of updates in which the scale doubles after the first overflow.

    Attributes:
        overflowed: Whether a gradient of the present update is not finite.

    Raises:
        ValueError: If ``interval`` is less than one.
    """

    def __init__(self, interval: int) -> None:
        if not interval >= 1:
            raise ValueError(f"interval must be at least 1, got {interval!r}")
        self.overflowed = False
        self._ever_overflowed = False
        self._growth = 2.0 ** (1.0 / interval)

    def record_overflow(self) -> None:
        """Notes that a gradient of the present update is not finite."""
        self.overflowed = self._ever_overflowed = True

    def next_scale(self, scale: float) -> float:
        """Returns the scale of the next update."""
        if self.overflowed:
            factor = 0.5
        else:
            # Before the first overflow nothing is known of the range, so the scale grows quickly.
            factor = self._growth if self._ever_overflowed else 2.0
        return max(1.0, min(MAX_LOSS_SCALE, scale * factor))


def note_loss_scale(params: Iterable[Parameter], loss_scale: float | None) -> None:
    """Gives parameters with gradients the loss scale of a backward pass that has just ended.

    The pass does it for the gradients that it stores. Within it, :func:`chainer.functions.forget`
    runs passes of its own, which do not know the scale.

    Args:
        params: The parameters.
        loss_scale: The scale; None if there is none.
    """
    if loss_scale is not None:
        for param in params:
            if param.grad is not None:
                param.loss_scale = loss_scale


def remove_loss_scale(param: Parameter) -> None:
    """Divides the gradient of a parameter by its loss scale, which becomes None."""
    scale = param.loss_scale
    grad = param.grad
    if scale is not None and grad is not None:
        with param.device:
            if is_half(grad.dtype):  # the factor itself may be too large for float16
                param.grad = force_array(grad.astype(numpy.float32) / scale, grad.dtype)
            else:
                param.grad = force_array(grad / grad.dtype.type(scale))
    param.loss_scale = None


def names_of_nonfinite_gradients(params: Iterable[tuple[str, Parameter]]) -> list[str]:
    """Returns the names of the parameters whose gradients have elements that are not finite.

    Parameters without array or gradient count as finite.

    Args:
        params: Names and parameters.
    """
    finite: dict[Device, list[tuple[str, Array]]] = {}
    for name, param in params:
        grad = None if param.array is None else param.grad
        if grad is None:
            continue
        backend = backend_of(grad)
        device = param.device
        with device:
            flag = backend.xp.isfinite(backend.to_xp(grad)).all()
        finite.setdefault(device, []).append((name, flag))
    names: list[str] = []
    for device, flags in finite.items():
        with device:
            # The host waits once for each device; single flags are read only after an overflow.
            everything = flags[0][1]
            for _, flag in flags[1:]:
                everything = everything & flag
            if not bool(everything):
                names += [name for name, flag in flags if not bool(flag)]
    return names
