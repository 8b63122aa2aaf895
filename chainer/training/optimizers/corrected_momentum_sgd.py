"""Corrected Momentum SGD optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import corrected_momentum_sgd_update
from chainer.training.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.kernel_rule import KernelUpdateRule
from chainer.training.optimizer import GradientMethod


class CorrectedMomentumSGDRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.CorrectedMomentumSGD`; see there.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``CorrectedMomentumSGD()`` by default.
        lr, momentum (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = corrected_momentum_sgd_update
    state_names = ("v",)
    hyperparam_names = ("lr", "momentum")

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        momentum: float | None = None,
    ) -> None:
        super().__init__(
            parent_hyperparam or CorrectedMomentumSGD().hyperparam, lr=lr, momentum=momentum
        )


class CorrectedMomentumSGD(GradientMethod):
    """Corrected Momentum SGD optimizer.

    The learning rate is applied to the velocity when it is used, not when it is accumulated, so
    that the method stays the same momentum method while the learning rate changes.

    See: `Goyal et al., Accurate, Large Minibatch SGD <https://arxiv.org/abs/1706.02677>`_, remark
    2.

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

    def create_update_rule(self) -> CorrectedMomentumSGDRule:
        """Creates a new update rule object.

        Returns:
            CorrectedMomentumSGDRule: Update rule with the hyperparameters of this optimizer.
        """
        return CorrectedMomentumSGDRule(self.hyperparam)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = CorrectedMomentumSGD().hyperparam
