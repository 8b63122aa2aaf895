"""M-SVAG."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.optimizer_updates import MSVAGScalars, msvag_update
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import Hyperparameter, hyperparameter


class MSVAGRule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.MSVAG`."""


class MSVAG(DeclaredOptimizer):
    """M-SVAG optimizer: momentum adapted to the relative variance of each gradient.

    See: `Dissecting Adam: The Sign, Magnitude and Variance of Stochastic Gradients
    <https://arxiv.org/abs/1705.07774>`_, with decoupled weight decay as in `Fixing Weight Decay
    Regularization in Adam <https://openreview.net/forum?id=rk6qdGgCZ>`_.

    Args:
        lr (float): Learning rate.
        beta (float): Exponential decay rate of the first and second order moments.
        eta (float): Schedule multiplier, can be used for warm restarts.
        weight_decay_rate (float): Weight decay rate.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.MSVAG(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[ 0.3347391 , -0.33052182]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.1, varies=True)
    beta: float = hyperparameter(default=0.9, at_least=0, below=1)
    eta: float = hyperparameter(default=1.0, at_least=0)
    weight_decay_rate: float = hyperparameter(default=0, at_least=0)

    operation = msvag_update
    states = ("m", "v")
    rule_class = MSVAGRule

    @classmethod
    def scalars(cls, hyperparam: Hyperparameter, rule: Any) -> MSVAGScalars:
        """Returns the numbers of a step, with the bias correction and the share of the mean."""
        # Computed from ``t``, which snapshots contain, so that a loaded rule continues correctly.
        h, beta = hyperparam, hyperparam.beta
        power = beta**rule.t
        rho = ((1 - beta) * (1 + power)) / ((1 + beta) * (1 - power))
        return MSVAGScalars(h.lr, beta, h.eta, h.weight_decay_rate, 1 - power, min(rho, 1.0))


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = MSVAG().hyperparam
