"""Momentum SGD optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import momentum_sgd_update
from chainer.training.optimizers._momentum import VelocityMethod, VelocityRule


class MomentumSGDRule(VelocityRule):
    """Update rule of :class:`~chainer.optimizers.MomentumSGD`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``MomentumSGD()`` by default.
        lr, momentum (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = momentum_sgd_update


class MomentumSGD(VelocityMethod[MomentumSGDRule]):
    """Momentum SGD optimizer.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.
    """

    rule_class = MomentumSGDRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = MomentumSGD().hyperparam
