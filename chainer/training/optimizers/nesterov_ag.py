"""Nesterov's Accelerated Gradient."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import nesterov_ag_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import hyperparameter


class NesterovAGRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.NesterovAG`."""


class NesterovAG(DeclaredOptimizer):
    """Nesterov's Accelerated Gradient.

    See: https://arxiv.org/abs/1212.0901. As in all releases of Chainer, the term
    ``momentum ** 2 * v`` of the paper's equation (7) takes the velocity after its update, so that
    parameters look two steps ahead along the velocity, not one.

    Args:
        lr (float): Learning rate.
        momentum (float): Exponential decay rate of the first order moment.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.NesterovAG(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[-3.6341243, -8.268249 ]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.01, varies=True)
    momentum: float = hyperparameter(default=0.9, at_least=-1, below=1)

    operation = nesterov_ag_update
    states = ("v",)
    rule_class = NesterovAGRule


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = NesterovAG().hyperparam
