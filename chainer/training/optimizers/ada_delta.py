"""Zeiler's ADADELTA."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import ada_delta_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import hyperparameter


class AdaDeltaRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.AdaDelta`."""


class AdaDelta(DeclaredOptimizer):
    """Zeiler's ADADELTA.

    See: http://www.matthewzeiler.com/pubs/googleTR2012/googleTR2012.pdf

    Args:
        rho (float): Exponential decay rate of the first and second order moments.
        eps (float): Small value for the numerical stability.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.AdaDelta().setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.9864756, 0.9864756]], dtype=float32)
    """

    rho: float = hyperparameter(default=0.95, at_least=0, below=1)
    eps: float = hyperparameter(default=1e-06, at_least=0)

    operation = ada_delta_update
    states = ("msg", "msdx")
    rule_class = AdaDeltaRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = AdaDelta().hyperparam
