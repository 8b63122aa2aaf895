"""Corrected Momentum SGD optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import corrected_momentum_sgd_update
from chainer.training.optimizers._momentum import VelocityMethod, VelocityRule


class CorrectedMomentumSGDRule(VelocityRule):
    """Update rule of :class:`~chainer.optimizers.CorrectedMomentumSGD`; see there.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``CorrectedMomentumSGD()`` by default.
        lr, momentum (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = corrected_momentum_sgd_update


class CorrectedMomentumSGD(VelocityMethod[CorrectedMomentumSGDRule]):
    """Corrected Momentum SGD optimizer.

    The learning rate is applied to the velocity when it is used, not when it is accumulated, so
    that the method stays the same momentum method while the learning rate changes.

    See: `Goyal et al., Accurate, Large Minibatch SGD <https://arxiv.org/abs/1706.02677>`_, remark
    2.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.
    """

    rule_class = CorrectedMomentumSGDRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = CorrectedMomentumSGD().hyperparam
