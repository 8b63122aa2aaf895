"""Corrected Momentum SGD optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import corrected_momentum_sgd_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import hyperparameter


class CorrectedMomentumSGDRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.CorrectedMomentumSGD`."""


class CorrectedMomentumSGD(DeclaredOptimizer):
    """Corrected Momentum SGD optimizer.

    The learning rate is applied to the velocity when it is used, not when it is accumulated, so
    that the method stays the same momentum method while the learning rate changes.

    See: `Goyal et al., Accurate, Large Minibatch SGD <https://arxiv.org/abs/1706.02677>`_, remark
    2.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.CorrectedMomentumSGD(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[ 0.2260001 , -0.54799986]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.01, varies=True)
    momentum: float = hyperparameter(default=0.9, at_least=-1, below=1)

    operation = corrected_momentum_sgd_update
    states = ("v",)
    rule_class = CorrectedMomentumSGDRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = CorrectedMomentumSGD().hyperparam
