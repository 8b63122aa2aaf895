"""RAdam optimizer."""

from __future__ import annotations

import math
from typing import Any

from chainer.core.arrays.recorder import VaryingNumber, computed
from chainer.core.typing import Array
from chainer.training.optimizers.declaration import DeclaredOptimizer, moment
from chainer.training.optimizers.hyperparameter import hyperparameter


def _is_tractable(length: float) -> float:
    return float(length > 4)


def _root(square: float) -> float:
    return math.sqrt(square) if square > 0 else 0.0


class RAdam(DeclaredOptimizer):
    """RAdam optimizer: Adam with a rectified variance of the adaptive learning rate.

    It needs no warm-up: the first steps are plain momentum. See: `On the Variance of the Adaptive
    Learning Rate and Beyond <https://arxiv.org/abs/1908.03265>`_.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        weight_decay_rate (float): Decoupled weight decay, multiplied by ``alpha``.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.RAdam(alpha=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[ 0.1816275 , -0.63674504]], dtype=float32)
    """

    alpha: float = hyperparameter(default=0.001, varies=True)
    beta1: float = hyperparameter(default=0.9, at_least=0, below=1)
    beta2: float = hyperparameter(default=0.999, at_least=0, below=1)
    eps: float = hyperparameter(default=1e-8, at_least=0)
    weight_decay_rate: float = hyperparameter(default=0.0, at_least=0)

    states = ("m", "v")
    is_elementwise = True

    @staticmethod
    def step(xp: Any, param: Array, grad: Array, state: dict[str, Array], scalars: Any) -> Array:
        """Returns the parameter after an update, and changes the state."""
        s, t = scalars, scalars.t
        m = moment(state, "m", s.beta1, grad)
        v = moment(state, "v", s.beta2, grad * grad)
        m_hat = m / (1 - s.beta1**t)
        decay = s.alpha * s.weight_decay_rate * param
        longest = 2 / (1 - s.beta2) - 1
        length = longest - 2 * t * s.beta2**t / (1 - s.beta2**t)
        # The variance of the adaptive step is not tractable for averages that are too short.
        is_long = computed(_is_tractable, length)
        is_recorded = isinstance(is_long, VaryingNumber)
        plain: Any = None
        if is_recorded or not is_long:
            plain = param - decay - s.alpha * m_hat
        if not is_recorded and not is_long:
            return plain
        rectification = computed(
            _root, (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        )
        adaptive = computed(_root, 1 - s.beta2**t) / (xp.sqrt(v) + s.eps)
        rectified = param - decay - s.alpha * rectification * m_hat * adaptive
        if not is_recorded:
            return rectified
        # A program computes both, as it serves all lengths.
        return xp.where(xp.zeros_like(param) + is_long > 0, rectified, plain)
