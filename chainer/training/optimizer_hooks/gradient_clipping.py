"""Clipping of the norm of all gradients together."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.backend import backend_of


def _sum_of_squares(param: Any) -> Any:
    """Returns the squared L2 norm of the true gradient of a parameter, as a host float."""
    grad = param.grad
    # Squares of float16 overflow at 256.
    wide = grad.astype(numpy.float32) if grad.dtype == numpy.float16 else grad
    flat = wide.ravel()
    with param.device:
        total = float(backend_of(flat).to_host(flat.dot(flat)[...]))
    scale = param.loss_scale
    return total if scale is None else total / scale**2


class GradientClipping:
    """Optimizer hook function for gradient clipping.

    If the L2 norm of all gradients together exceeds a threshold, they are all scaled by the same
    factor, so that their norm is the threshold.

    Args:
        threshold (float): L2 norm threshold.

    Attributes:
        threshold (float): L2 norm threshold of gradient norm.
        timing (str): When the hook is called: ``'pre'``, before the update.
    """

    name = "GradientClipping"
    timing = "pre"

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def __call__(self, opt: Any) -> None:
        """Changes the gradients of the target link's parameters."""
        params = [p for p in opt.target.params(include_uninit=False) if p.grad is not None]
        norm = math.sqrt(sum(map(_sum_of_squares, params)))
        if norm == 0:
            return
        rate = self.threshold / norm
        if rate < 1:
            for param in params:
                grad = param.grad
                with param.device:
                    grad *= rate
