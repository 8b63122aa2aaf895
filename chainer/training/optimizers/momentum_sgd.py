"""Momentum SGD optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import momentum_sgd_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import hyperparameter


class MomentumSGDRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.MomentumSGD`."""


class MomentumSGD(DeclaredOptimizer):
    """Momentum SGD optimizer.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.
    """

    lr: float = hyperparameter(default=0.01, varies=True)
    momentum: float = hyperparameter(default=0.9)

    operation = momentum_sgd_update
    states = ("v",)
    rule_class = MomentumSGDRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = MomentumSGD().hyperparam
