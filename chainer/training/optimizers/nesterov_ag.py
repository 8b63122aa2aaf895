"""Nesterov's Accelerated Gradient."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import nesterov_ag_update
from chainer.training.optimizers._momentum import VelocityMethod, VelocityRule


class NesterovAGRule(VelocityRule):
    """Update rule of :class:`~chainer.optimizers.NesterovAG`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``NesterovAG()`` by default.
        lr, momentum (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = nesterov_ag_update


class NesterovAG(VelocityMethod[NesterovAGRule]):
    """Nesterov's Accelerated Gradient.

    See: https://arxiv.org/abs/1212.0901. As in all releases of Chainer, the term
    ``momentum ** 2 * v`` of the paper's equation (7) takes the velocity after its update, so that
    parameters look two steps ahead along the velocity, not one.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.
    """

    rule_class = NesterovAGRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = NesterovAG().hyperparam
