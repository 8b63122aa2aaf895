"""Alex Graves's RMSprop."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import rmsprop_graves_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import hyperparameter


class RMSpropGravesRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.RMSpropGraves`."""


class RMSpropGraves(DeclaredOptimizer):
    """Alex Graves's RMSprop.

    See: https://arxiv.org/abs/1308.0850

    Args:
        lr (float): Learning rate.
        alpha (float): Exponential decay rate of the first and second order moments of the raw
            gradient.
        momentum (float): Exponential decay rate of the first order moment of the adjusted gradient.
        eps (float): Small value for the numerical stability.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.RMSpropGraves(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[-0.40852907, -0.40856004]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.0001, varies=True)
    alpha: float = hyperparameter(default=0.95, varies=True, at_least=0, below=1)
    momentum: float = hyperparameter(default=0.9, at_least=-1, below=1)
    eps: float = hyperparameter(default=0.0001, at_least=0)

    operation = rmsprop_graves_update
    states = ("n", "g", "delta")
    rule_class = RMSpropGravesRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = RMSpropGraves().hyperparam
