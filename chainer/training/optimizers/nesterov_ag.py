"""Nesterov's Accelerated Gradient."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import nesterov_ag_update
from chainer.training.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.kernel_rule import KernelUpdateRule
from chainer.training.optimizer import GradientMethod


class NesterovAGRule(KernelUpdateRule):
    """Update rule of :class:`~chainer.optimizers.NesterovAG`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``NesterovAG()`` by default.
        lr, momentum (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = nesterov_ag_update
    state_names = ("v",)
    hyperparam_names = ("lr", "momentum")

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        lr: float | None = None,
        momentum: float | None = None,
    ) -> None:
        super().__init__(parent_hyperparam or NesterovAG().hyperparam, lr=lr, momentum=momentum)


class NesterovAG(GradientMethod):
    """Nesterov's Accelerated Gradient.

    See: https://arxiv.org/abs/1212.0901. As in all releases of Chainer, the term
    ``momentum ** 2 * v`` of the paper's equation (7) takes the velocity after its update, so that
    parameters look two steps ahead along the velocity, not one.

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

    def create_update_rule(self) -> NesterovAGRule:
        """Creates a new update rule object.

        Returns:
            NesterovAGRule: Update rule with the hyperparameters of this optimizer.
        """
        return NesterovAGRule(self.hyperparam)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = NesterovAG().hyperparam
