"""LAMB optimizer."""

from __future__ import annotations

from typing import Any

from chainer.core.typing import Array
from chainer.training.optimizers.declaration import DeclaredOptimizer, moment
from chainer.training.optimizers.hyperparameter import hyperparameter


class LAMB(DeclaredOptimizer):
    """LAMB optimizer: Adam whose step is scaled to the norm of each parameter, for large batches.

    See: `Large Batch Optimization for Deep Learning: Training BERT in 76 minutes
    <https://arxiv.org/abs/1904.00962>`_, with the identity as the scaling function.

    Args:
        lr (float): Learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        weight_decay_rate (float): Weight decay, part of the step that is scaled.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.LAMB(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.729    , 0.7289999]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.001, varies=True)
    beta1: float = hyperparameter(default=0.9, at_least=0, below=1)
    beta2: float = hyperparameter(default=0.999, at_least=0, below=1)
    eps: float = hyperparameter(default=1e-6, at_least=0)
    weight_decay_rate: float = hyperparameter(default=0.01, at_least=0)

    states = ("m", "v")

    @staticmethod
    def step(xp: Any, param: Array, grad: Array, state: dict[str, Array], scalars: Any) -> Array:
        """Returns the parameter after an update, and changes the state."""
        s = scalars
        m_hat = moment(state, "m", s.beta1, grad) / (1 - s.beta1**s.t)
        v_hat = moment(state, "v", s.beta2, grad * grad) / (1 - s.beta2**s.t)
        update = m_hat / (xp.sqrt(v_hat) + s.eps) + s.weight_decay_rate * param
        size, norm = xp.sqrt((param * param).sum()), xp.sqrt((update * update).sum())
        # Parameters of zeros, as biases are at first, would never move: their ratio is one.
        usable = (size > 0) & (norm > 0)
        ratio = xp.where(
            usable, size / xp.where(usable, norm, xp.ones_like(norm)), xp.ones_like(norm)
        )
        return param - s.lr * ratio * update
