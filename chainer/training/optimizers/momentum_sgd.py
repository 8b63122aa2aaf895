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

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.MomentumSGD(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[ 0.22600001, -0.5479999 ]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.01, varies=True)
    momentum: float = hyperparameter(default=0.9, at_least=-1, below=1)

    operation = momentum_sgd_update
    states = ("v",)
    rule_class = MomentumSGDRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = MomentumSGD().hyperparam
