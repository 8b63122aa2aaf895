"""Vanilla Stochastic Gradient Descent."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import sgd_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import hyperparameter


class SGDRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.SGD`."""


class SGD(DeclaredOptimizer):
    """Vanilla Stochastic Gradient Descent.

    Args:
        lr (float): Learning rate.
    """

    lr: float = hyperparameter(default=0.01, varies=True)

    operation = sgd_update
    rule_class = SGDRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = SGD().hyperparam
