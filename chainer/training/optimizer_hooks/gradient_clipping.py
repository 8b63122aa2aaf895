"""Clipping of the norm of all gradients together."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

from chainer.core.backend import HOST_FAMILY, backend_of
from chainer.training.optimizer_hooks._norms import sum_of_squares


def _sum_of_squares(param: Any) -> Any:
    """Returns the squared L2 norm of the true gradient of a parameter, an array."""
    with param.device:
        total = sum_of_squares(param.grad)
        if param.loss_scale is not None:
            total /= param.loss_scale**2
        return total


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
        ValueError: If ``threshold`` is negative, which would turn gradients around.
    """

    name = "GradientClipping"
    timing = "pre"

    def __init__(self, threshold: float) -> None:
        if not threshold >= 0:
            raise ValueError(f"threshold must not be negative, got {threshold!r}")
        self.threshold = threshold

    def __call__(self, opt: Any) -> None:
        """Changes the gradients of the target link's parameters."""
        params = [p for p in opt.target.params(include_uninit=False) if p.grad is not None]
        if not params:
            return
        totals = [_sum_of_squares(param) for param in params]
        if all(backend_of(total).family == HOST_FAMILY for total in totals):
            self._clip_on_host(params, math.sqrt(sum(map(float, totals))))
        else:
            self._clip_on_device(params, totals)

    def _clip_on_host(self, params: list[Any], norm: float) -> None:
        if norm == 0:
            return
        rate = self.threshold / norm
        if rate < 1:
            for param in params:
                grad = param.grad
                grad *= rate

    def _clip_on_device(self, params: list[Any], totals: list[Any]) -> None:
        # The rate stays an array: the host does not wait for it, and gradients are multiplied with
        # one where they are not to be clipped.
        device = next(p.device for p in params if p.device.backend.family != HOST_FAMILY)
        with device:
            xp = device.xp
            # Added one by one: CuPy joins many arrays by way of a table it copies from the host.
            squares = functools.reduce(operator.add, device.send(totals))
            rate = self.threshold / xp.sqrt(xp.maximum(squares, xp.finfo(squares.dtype).tiny))
            rate = xp.where(rate < 1, rate, 1).astype(squares.dtype)
        for param in params:
            grad = param.grad
            with param.device:
                grad *= param.device.send(rate)
