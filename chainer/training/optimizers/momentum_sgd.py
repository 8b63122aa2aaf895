"""Momentum SGD optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import momentum_sgd_update
from chainer.training.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.kernel_rule import KernelUpdateRule
from chainer.training.optimizer import GradientMethod


class MomentumSGDRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.MomentumSGD`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``MomentumSGD()`` by default.
        lr, momentum (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = momentum_sgd_update
    state_names = ("v",)
    hyperparam_names = ("lr", "momentum")

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        momentum: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam or MomentumSGD().hyperparam, lr=lr, momentum=momentum)


class MomentumSGD(GradientMethod):
    """Momentum SGD optimizer.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.
    """

    lr = HyperparameterProxy("lr")
    momentum = HyperparameterProxy("momentum")

    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None:
        super().__init__()
        self.hyperparam.lr = lr
        self.hyperparam.momentum = momentum

    def create_update_rule(self) -> MomentumSGDRule:
        """Creates a new update rule object.

        Returns:
            MomentumSGDRule: Update rule with the hyperparameters of this optimizer.
        """
        return MomentumSGDRule(self.hyperparam)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = MomentumSGD().hyperparam
