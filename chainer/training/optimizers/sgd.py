"""Vanilla Stochastic Gradient Descent."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import sgd_update
from chainer.training.optimizers._rule_based import RuleBasedMethod
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.kernel_rule import KernelUpdateRule


class SGDRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.SGD`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``SGD()`` by default.
        lr (float): Hyperparameter of this rule only; by default that of the parent.
    """

    operation = sgd_update
    hyperparam_names = ("lr",)

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam, lr=lr)


class SGD(RuleBasedMethod[SGDRule]):
    """Vanilla Stochastic Gradient Descent.

    Args:
        lr (float): Learning rate.
    """

    rule_class = SGDRule
    lr = HyperparameterProxy("lr")

    def __init__(self, lr: float = 0.01) -> None:
        super().__init__(lr=lr)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = SGD().hyperparam
