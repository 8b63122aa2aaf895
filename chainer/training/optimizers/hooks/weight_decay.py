"""Weight decay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends.operations.gradient_hooks import gradient_hooks
from chainer.core.misuse import warn_once
from chainer.training.optimizers.hooks._gradient_hook import GradientHook
from chainer.training.optimizers.hooks.grouping import Entry

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.training.optimizers.update_rule import UpdateRule


class WeightDecay(GradientHook):
    """Optimizer/UpdateRule hook function for weight decay regularization.

    Adds a scaled parameter to the corresponding gradient: ``grad += rate * param``.

    Args:
        rate (float): Coefficient for the weight decay.

    Attributes:
        rate (float): Coefficient for the weight decay.
        timing (str): When the hook is called: ``'pre'``, before the update.
        call_for_each_param (bool): True: the hook is called for each parameter.

    Example:
        >>> model = chainer.Link()
        >>> with model.init_scope():
        ...     model.W = chainer.Parameter(np.array([1.0, -2.0]))
        >>> optimizer = chainer.optimizers.SGD(lr=1.0).setup(model)
        >>> optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
        >>> model.W.grad = np.array([0.0, 0.0])
        >>> optimizer.update()
        >>> model.W.array
        array([ 0.9, -1.8])
    """

    name = "WeightDecay"
    can_group = True

    def __init__(self, rate: float) -> None:
        if isinstance(rate, (int, float)) and not rate >= 0:
            warn_once(
                "weight decay",
                "WeightDecay",
                f"rate of WeightDecay is {rate!r}: it must be at least 0, because with a negative "
                "rate the parameters grow",
                stacklevel=3,
            )
        self.rate = rate

    def change_gradient(self, rule: UpdateRule | None, param: Parameter) -> None:
        """Adds a multiple of the parameter to its gradient."""
        grad = param.grad
        grad += self.rate * param.array

    def call_for_params(self, entries: list[Entry]) -> None:
        """Changes the gradients of parameters of one device and dtype by few calls of a kernel."""
        gradient_hooks.select(entries[0][1]).weight_decay(entries, self.rate)
