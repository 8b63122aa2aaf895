"""Lasso regularization."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends.operations.gradient_hooks import gradient_hooks
from chainer.core.arrays.backend import backend_of
from chainer.core.misuse import expect_number
from chainer.training.optimizers.hooks._gradient_hook import GradientHook
from chainer.training.optimizers.hooks.grouping import Entry

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.training.optimizers.update_rule import UpdateRule


class Lasso(GradientHook):
    """Optimizer/UpdateRule hook function for Lasso regularization.

    Adds the scaled sign of each weight to its gradient: ``grad += rate * sign(param)``.

    Args:
        rate (float): Coefficient for the regularization.

    Attributes:
        rate (float): Coefficient for the regularization.
        timing (str): When the hook is called: ``'pre'``, before the update.
        call_for_each_param (bool): True: the hook is called for each parameter.

    Example:
        >>> model = chainer.Link()
        >>> with model.init_scope():
        ...     model.W = chainer.Parameter(np.array([1.0, -1.0]))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.Lasso(0.1))
        >>> model.W.grad = np.array([0.0, 0.0])
        >>> optimizer.update()
        >>> model.W.array
        array([ 0.9, -0.9])
    """

    name = "Lasso"
    can_group = True

    def __init__(self, rate: float) -> None:
        expect_number("rate of Lasso", rate, at_least=0)
        self.rate = rate

    def change_gradient(self, rule: UpdateRule | None, param: Parameter) -> None:
        """Adds a multiple of the sign of the parameter to its gradient."""
        array, grad = param.array, param.grad
        grad += self.rate * backend_of(array).xp.sign(array)

    def call_for_params(self, entries: list[Entry]) -> None:
        """Changes the gradients of parameters of one device and dtype by few calls of a kernel."""
        gradient_hooks.select(entries[0][1]).lasso(entries, self.rate)
