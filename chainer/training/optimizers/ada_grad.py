"""AdaGrad optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import ada_grad_update
from chainer.training.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.kernel_rule import KernelUpdateRule
from chainer.training.optimizer import GradientMethod


class AdaGradRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.AdaGrad`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``AdaGrad()`` by default.
        lr, eps (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = ada_grad_update
    state_names = ("h",)
    hyperparam_names = ("lr", "eps")

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        eps: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam or AdaGrad().hyperparam, lr=lr, eps=eps)


class AdaGrad(GradientMethod):
    """AdaGrad optimizer.

    See: http://jmlr.org/papers/v12/duchi11a.html

    Args:
        lr (float): Learning rate.
        eps (float): Small value for the numerical stability.
    """

    lr = HyperparameterProxy("lr")
    eps = HyperparameterProxy("eps")

    def __init__(self, lr: float = 0.001, eps: float = 1e-08) -> None:
        super().__init__()
        self.hyperparam.lr = lr
        self.hyperparam.eps = eps

    def create_update_rule(self) -> AdaGradRule:
        """Creates a new update rule object.

        Returns:
            AdaGradRule: Update rule with the hyperparameters of this optimizer.
        """
        return AdaGradRule(self.hyperparam)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = AdaGrad().hyperparam
