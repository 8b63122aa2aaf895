"""AdaGrad optimizer."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import ada_grad_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import hyperparameter


class AdaGradRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.AdaGrad`."""


class AdaGrad(DeclaredOptimizer):
    """AdaGrad optimizer.

    See: http://jmlr.org/papers/v12/duchi11a.html

    Args:
        lr (float): Learning rate.
        eps (float): Small value for the numerical stability.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.AdaGrad(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.7837598, 0.7837598]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.001, varies=True)
    eps: float = hyperparameter(default=1e-08, at_least=0)

    operation = ada_grad_update
    states = ("h",)
    rule_class = AdaGradRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = AdaGrad().hyperparam
