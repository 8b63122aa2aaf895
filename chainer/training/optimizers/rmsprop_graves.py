"""Alex Graves's RMSprop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.backends.operations.optimizer_updates import (
    RMSpropGravesHyperparameters,
    rmsprop_graves_update,
)
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.kernel_rule import KernelUpdateRule

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter


class RMSpropGravesRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.RMSpropGraves`; see there.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``RMSpropGraves()`` by default.
        lr, alpha, momentum, eps (float): Hyperparameters of this
            rule only; by default those of the parent.
    """

    operation = rmsprop_graves_update
    shares_arguments = True
    state_names = ("n", "g", "delta")
    hyperparam_names = RMSpropGravesHyperparameters._fields

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        alpha: float | None = None,
        momentum: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam,
            lr=lr,
            alpha=alpha,
            momentum=momentum,
            eps=eps,
        )

    def kernel_arguments(self, param: Parameter) -> dict[str, Any]:
        """Returns the keyword arguments of the kernel's ``update`` method."""
        # Four numbers as one object: the kernels take few arguments.
        return {"hyper": RMSpropGravesHyperparameters(**super().kernel_arguments(param))}


class RMSpropGraves(RuleBasedMethod[RMSpropGravesRule]):
    """Alex Graves's RMSprop.

    See: https://arxiv.org/abs/1308.0850

    Args:
        lr (float): Learning rate.
        alpha (float): Exponential decay rate of the first and second order moments of the raw
            gradient.
        momentum (float): Exponential decay rate of the first order moment of the adjusted gradient.
        eps (float): Small value for the numerical stability.
    """

    rule_class = RMSpropGravesRule
    lr = HyperparameterProxy("lr")
    alpha = HyperparameterProxy("alpha")
    momentum = HyperparameterProxy("momentum")
    eps = HyperparameterProxy("eps")

    def __init__(
        self, lr: float = 0.0001, alpha: float = 0.95, momentum: float = 0.9, eps: float = 0.0001
    ) -> None:
        super().__init__(lr=lr, alpha=alpha, momentum=momentum, eps=eps)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = RMSpropGraves().hyperparam
