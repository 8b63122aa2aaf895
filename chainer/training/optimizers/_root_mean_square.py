"""What the optimizers have in common that divide the gradient by its root mean square."""

from __future__ import annotations

from chainer.training.optimizers._rule_based import R, RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.kernel_rule import KernelUpdateRule


class NormalizedRule(KernelUpdateRule):
    """Base of update rules with a learning rate and a number that is added to the divisor."""

    hyperparam_names = ("lr", "eps")

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam, lr=lr, eps=eps)


class NormalizedMethod(RuleBasedMethod[R]):
    """Base of optimizers with a learning rate and a number that is added to the divisor."""

    lr = HyperparameterProxy("lr")
    eps = HyperparameterProxy("eps")
