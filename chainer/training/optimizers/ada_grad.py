"""AdaGrad optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import ada_grad_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import hyperparameter


class AdaGradRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.AdaGrad`."""


class AdaGrad(DeclaredOptimizer):
    """AdaGrad optimizer.

    See: http://jmlr.org/papers/v12/duchi11a.html

    Args:
        lr (float): Learning rate.
        eps (float): Small value for the numerical stability.
    """

    lr: float = hyperparameter(default=0.001, varies=True)
    eps: float = hyperparameter(default=1e-08)

    operation = ada_grad_update
    states = ("h",)
    rule_class = AdaGradRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = AdaGrad().hyperparam
