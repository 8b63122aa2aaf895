"""What the optimizers with a velocity have in common."""

from __future__ import annotations

from chainer.training.optimizers._rule_based import R, RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.kernel_rule import KernelUpdateRule


class VelocityRule(KernelUpdateRule):
    """Base of update rules whose state is a velocity, ``v``."""

    state_names = ("v",)
    hyperparam_names = ("lr", "momentum")

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        momentum: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam, lr=lr, momentum=momentum)


class VelocityMethod(RuleBasedMethod[R]):
    """Base of optimizers with a learning rate and a momentum.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.
    """

    lr = HyperparameterProxy("lr")
    momentum = HyperparameterProxy("momentum")

    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None:
        super().__init__(lr=lr, momentum=momentum)
