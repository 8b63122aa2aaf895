"""Layer-wise adaptive rate scaling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.core.arrays.backend import HOST_FAMILY, backend_of
from chainer.core.misuse import expect_number
from chainer.core.typing import Array
from chainer.training.optimizers.hooks._gradient_hook import GradientHook
from chainer.training.optimizers.hooks._norms import sum_of_squares

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.training.optimizers.update_rule import UpdateRule


class GradientLARS(GradientHook):
    r"""Optimizer/UpdateRule hook function for layer wise adaptive rate scaling.

    See: `Large Batch Training of Convolutional Networks <https://arxiv.org/abs/1708.03888>`_ and
    `Convergence Analysis of Gradient Descent Algorithms with Proportional Updates
    <https://arxiv.org/abs/1801.03137>`_.

    A gradient array becomes :math:`r (\nabla L(w) + \beta w)`, where :math:`\beta` is
    ``weight_decay`` and

    .. math:: r = \frac{\|w\|}{\epsilon + \|\nabla L(w)\| + \beta \|w\|}

    if the norm of the weight array exceeds ``threshold``, and one otherwise. To use the coefficient
    :math:`\eta` of the first paper, multiply the learning rate of the optimizer by it.

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

    Example:
        >>> model = chainer.Link()
        >>> with model.init_scope():
        ...     model.W = chainer.Parameter(np.array([3.0, 4.0]))
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.GradientLARS(threshold=0.1))
        >>> model.W.grad = np.array([0.6, 0.8])
        >>> optimizer.update()
        >>> model.W.array
        array([2.7, 3.6])
    """

    name = "GradientLARS"

    def __init__(
        self, threshold: float = 1e-2, weight_decay: float = 0.0, eps: float = 1e-9
    ) -> None:
        for name, value in (("threshold", threshold), ("weight_decay", weight_decay), ("eps", eps)):
            expect_number(f"{name} of GradientLARS", value, at_least=0)
        self.threshold = threshold
        self.weight_decay = weight_decay
        self.eps = eps

    def change_gradient(self, rule: UpdateRule | None, param: Parameter) -> None:
        """Decays and scales the gradient of a parameter."""
        array, grad = param.array, param.grad
        if backend_of(array).family == HOST_FAMILY:
            rate = self._rate(math.sqrt(sum_of_squares(array)), math.sqrt(sum_of_squares(grad)))
        else:
            rate = self._rate_on_device(array, grad)
        if self.weight_decay:
            grad += self.weight_decay * array
        grad *= rate

    def _rate(self, weight_norm: float, grad_norm: float) -> float:
        if weight_norm <= self.threshold:
            return 1.0
        return weight_norm / (self.eps + grad_norm + self.weight_decay * weight_norm)

    def _rate_on_device(self, array: Array, grad: Array) -> Array:
        """Returns the rate as an array, so that the host does not wait for it."""
        xp = backend_of(array).xp
        weight_norm, grad_norm = xp.sqrt(sum_of_squares(array)), xp.sqrt(sum_of_squares(grad))
        divisor = self.eps + grad_norm + self.weight_decay * weight_norm
        # The quotient is made even where it is not used, so the divisor must not be zero.
        divisor = xp.maximum(divisor, xp.finfo(divisor.dtype).tiny)
        return xp.where(weight_norm > self.threshold, weight_norm / divisor, 1)
