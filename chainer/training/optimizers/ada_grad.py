"""AdaGrad optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import ada_grad_update
from chainer.training.optimizers._root_mean_square import NormalizedMethod, NormalizedRule


class AdaGradRule(NormalizedRule):
    """Update rule of :class:`~chainer.optimizers.AdaGrad`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``AdaGrad()`` by default.
        lr, eps (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = ada_grad_update
    state_names = ("h",)


class AdaGrad(NormalizedMethod[AdaGradRule]):
    """AdaGrad optimizer.

    See: http://jmlr.org/papers/v12/duchi11a.html

    Args:
        lr (float): Learning rate.
        eps (float): Small value for the numerical stability.
    """

    rule_class = AdaGradRule

    def __init__(self, lr: float = 0.001, eps: float = 1e-08) -> None:
        super().__init__(lr=lr, eps=eps)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = AdaGrad().hyperparam
