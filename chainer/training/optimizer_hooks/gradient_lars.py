"""Layer-wise adaptive rate scaling."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.backend import backend_of


def _norm(array: Any) -> float:
    wide = array.astype(numpy.float32) if array.dtype == numpy.float16 else array
    flat = wide.ravel()
    return float(backend_of(flat).to_host(flat.dot(flat)[...])) ** 0.5


class GradientLARS:
    r"""Optimizer/UpdateRule hook function for layer wise adaptive rate scaling.

    See: `Large Batch Training of Convolutional Networks <https://arxiv.org/abs/1708.03888>`_ and
    `Convergence Analysis of Gradient Descent Algorithms with Proportional Updates
    <https://arxiv.org/abs/1801.03137>`_.

    A gradient array becomes :math:`r (\nabla L(w) + \beta w)`, where :math:`\beta` is
    ``weight_decay`` and

    .. math:: r = \frac{\|w\|}{\epsilon + \|\nabla L(w)\| + \beta \|w\|}

    if the norm of the weight array exceeds ``threshold``, and one otherwise. The coefficient
    :math:`\eta` of the first paper is to be multiplied into the learning rate of
    :class:`~chainer.optimizers.SGD` or :class:`~chainer.optimizers.MomentumSGD`.

    Args:
        threshold (float): Weight norm up to which gradients are not scaled.
        weight_decay (float): Coefficient for the weight decay.
        eps (float): Small value for the numerical stability.

    Attributes:
        threshold (float): Weight norm up to which gradients are not scaled.
        weight_decay (float): Coefficient for the weight decay.
        eps (float): Small value for the numerical stability.
        timing (str): When the hook is called: ``'pre'``, before the update.
        call_for_each_param (bool): True: the hook is called for each parameter.
    """

    name = "GradientLARS"
    call_for_each_param = True
    timing = "pre"

    def __init__(
        self, threshold: float = 1e-2, weight_decay: float = 0.0, eps: float = 1e-9
    ) -> None:
        self.threshold = threshold
        self.weight_decay = weight_decay
        self.eps = eps

    def __call__(self, rule: Any, param: Any) -> None:
        """Changes the gradient of a parameter, before its update."""
        array, grad = param.array, param.grad
        if array is None or grad is None:
            return
        with param.device:
            weight_norm = _norm(array)
            rate = 1.0
            if weight_norm > self.threshold:
                rate = weight_norm / (self.eps + _norm(grad) + self.weight_decay * weight_norm)
            if self.weight_decay:
                grad += self.weight_decay * array
            grad *= rate
