"""Clipping of the norm of all gradients together."""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backends.operations.gradient_hooks import gradient_hooks
from chainer.core.arrays.backend import HOST_FAMILY, backend_of
from chainer.core.config.configuration import threads
from chainer.core.misuse import warn_once
from chainer.core.typing import Array
from chainer.training.optimizers.hooks._norms import finite_norm, sum_of_squares
from chainer.training.optimizers.hooks.grouping import dense_gradients

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.training.optimizers.optimizer import Optimizer


def _sum_of_squares(param: Parameter) -> Array:
    """Returns the squared L2 norm of the true gradient of a parameter, an array."""
    with param.device:
        total = sum_of_squares(param.grad)
        if param.loss_scale is not None:
            total /= param.loss_scale**2
        return total


def _finite_norm(params: list[Parameter]) -> Array:
    """Returns the norm of all gradients in host memory, if only their squares are too large."""
    grads = [backend_of(param.grad).to_xp(param.grad) for param in params]
    xp = backend_of(grads[0]).xp
    norms: list[Array] = []
    for param, grad in zip(params, grads, strict=True):
        norm = finite_norm([grad], sum_of_squares(grad)).astype(numpy.float64)
        norms.append(norm if param.loss_scale is None else norm / param.loss_scale)
    # It does not overflow where the sum of two squares does.
    return xp.asarray(functools.reduce(xp.hypot, norms))


def _norm_on_host(squares: float, params: list[Parameter]) -> float:
    return math.sqrt(squares) if math.isfinite(squares) else float(_finite_norm(params))


class GradientClipping:
    """Optimizer hook function for gradient clipping.

    If the L2 norm of all gradients together exceeds a threshold, they are all scaled by the same
    factor, so that their norm is the threshold.

    Args:
        threshold (float): L2 norm threshold.

    Attributes:
        threshold (float): L2 norm threshold of gradient norm.
        timing (str): When the hook is called: ``'pre'``, before the update.

    Raises:
        ValueError: If ``threshold`` is negative, which would reverse the gradients.

    Example:
        >>> model = chainer.Link()
        >>> with model.init_scope():
        ...     model.W = chainer.Parameter(np.array([0.0, 0.0]))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))
        >>> model.W.grad = np.array([3.0, 4.0])
        >>> optimizer.update()
        >>> model.W.array
        array([-0.6, -0.8])
    """

    name = "GradientClipping"
    timing = "pre"

    def __init__(self, threshold: float) -> None:
        if not threshold >= 0:
            raise ValueError(f"threshold must not be negative, got {threshold!r}")
        if threshold == 0:
            warn_once(
                "gradient clipping",
                "GradientClipping",
                "threshold of GradientClipping is 0: all gradients become zero",
                stacklevel=3,
            )
        self.threshold = threshold

    def __call__(self, opt: Optimizer) -> None:
        """Changes the gradients of the target link's parameters."""
        target = opt.target
        if target is None:
            return
        params = [p for p in target.params(include_uninit=False) if p.grad is not None]
        if not params:
            return
        on_device = [p for p in params if backend_of(p.grad).family != HOST_FAMILY]
        # Squares may overflow, and an infinite gradient, which dynamic loss scaling finds, becomes
        # NaN: both without a warning.
        with numpy.errstate(over="ignore", invalid="ignore"):
            if not on_device and threads.state.recorder is not None:
                self._clip_in_recording(params)
            elif on_device:
                self._clip_on_devices(params, on_device)
            else:
                self._clip_on_host(params)

    def _clip_on_host(self, params: list[Parameter]) -> None:
        # Not by a kernel and not by sum(), which compensates rounding: _clip_in_recording() has to
        # find the same number.
        squares = functools.reduce(operator.add, [float(_sum_of_squares(p)) for p in params])
        norm = _norm_on_host(squares, params)
        if norm == 0 or not self.threshold / norm < 1:
            return
        rate = self.threshold / norm
        grads = dense_gradients(params)
        if grads is not None:
            gradient_hooks.select(grads[0]).scale(grads, numpy.asarray(rate, grads[0].dtype))
            return
        for param in params:
            grad = param.grad
            grad *= rate

    def _clip_in_recording(self, params: list[Parameter]) -> None:
        """Does what :meth:`_clip_on_host` does, in every bit, without looking at the norm."""
        xp = backend_of(params[0].grad).xp
        totals = [_sum_of_squares(param).astype(numpy.float64) for param in params]
        squares = functools.reduce(operator.add, totals)
        norm = xp.where(xp.isfinite(squares), xp.sqrt(squares), _finite_norm(params))
        rate = self.threshold / xp.where(norm == 0, 1.0, norm)
        rate = xp.where(rate < 1, rate, 1.0)
        for param in params:
            grad = param.grad
            grad *= rate.astype(grad.dtype)

    def _clip_on_devices(self, params: list[Parameter], on_device: list[Parameter]) -> None:
        # The rate stays an array, so that the host does not wait for it. Where nothing is to be
        # clipped, gradients are multiplied by one.
        groups: dict[Any, list[Array]] = {}
        for param in on_device:
            key = (param.device, param.grad.dtype, param.loss_scale)
            groups.setdefault(key, []).append(param.grad)
        on_host = [param for param in params if backend_of(param.grad).family == HOST_FAMILY]
        norms = [_finite_norm(on_host)] if on_host else []
        for (device, _, scale), grads in groups.items():
            with device:
                total = gradient_hooks.select(grads[0]).sum_of_squares(grads)
                norm = finite_norm(grads, total)
                norms.append(norm if scale is None else norm / scale)
        first = on_device[0].device
        with first:
            xp = first.xp
            # Added one by one: to join many arrays, CuPy copies a table from the host.
            norm = functools.reduce(xp.hypot, first.send(norms))
            rate = self.threshold / xp.maximum(norm, xp.finfo(norm.dtype).tiny)
            rate = xp.where(rate < 1, rate, 1)
        for (device, dtype, _), grads in groups.items():
            with device:
                wide = numpy.float32 if dtype.itemsize == 2 else dtype
                factor = device.send(rate).astype(wide, copy=False)
                gradient_hooks.select(grads[0]).scale(grads, factor)
        for param in on_host:
            grad = param.grad
            grad *= param.device.send(rate)
