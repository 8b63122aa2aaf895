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

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[ 0.49599996, -0.00800001]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.01, varies=True)

    operation = sgd_update
    rule_class = SGDRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = SGD().hyperparam
