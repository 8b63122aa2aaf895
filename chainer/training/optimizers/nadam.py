"""NAdam optimizer."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.recorder import may_read_values
from chainer.core.typing import Array
from chainer.training.optimizers.declaration import DeclaredOptimizer, moment
from chainer.training.optimizers.hyperparameter import Hyperparameter, hyperparameter

#: Base of the schedule of the momentum, a constant of the paper.
_SCHEDULE = 0.96


class NAdam(DeclaredOptimizer):
    """NAdam optimizer: Adam with Nesterov momentum.

    See: `Incorporating Nesterov Momentum into Adam
    <https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ>`_.

    Args:
        alpha (float): Coefficient of learning rate.
        beta1 (float): Exponential decay rate of the first order moment.
        beta2 (float): Exponential decay rate of the second order moment.
        eps (float): Small value for the numerical stability.
        momentum_decay (float): How fast the momentum coefficient grows to ``beta1``.
        weight_decay_rate (float): Decoupled weight decay, multiplied by ``alpha``.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.NAdam(alpha=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.75649136, 0.75649136]], dtype=float32)
    """

    alpha: float = hyperparameter(default=0.002, varies=True)
    beta1: float = hyperparameter(default=0.9, at_least=0, below=1)
    beta2: float = hyperparameter(default=0.999, at_least=0, below=1)
    eps: float = hyperparameter(default=1e-8, at_least=0)
    momentum_decay: float = hyperparameter(default=0.004, at_least=0)
    weight_decay_rate: float = hyperparameter(default=0.0, at_least=0)

    states = ("m", "v", "mu_product")
    is_elementwise = True

    @classmethod
    def initial_states(cls, hyperparam: Hyperparameter, array: Array) -> dict[str, Array]:
        """Returns the averages and the product of the momentum coefficients."""
        states = super().initial_states(hyperparam, array)
        # An array, so that a recorded step can change it; of float64, as Python's numbers are.
        states["mu_product"] = backend_of(array).xp.ones((), numpy.float64)
        return states

    @staticmethod
    def step(xp: Any, param: Array, grad: Array, state: dict[str, Array], scalars: Any) -> Array:
        """Returns the parameter after an update, and changes the state."""
        s, t = scalars, scalars.t
        m = moment(state, "m", s.beta1, grad)
        v = moment(state, "v", s.beta2, grad * grad)

        def momentum(t: float) -> float:
            return s.beta1 * (1 - 0.5 * _SCHEDULE ** (t * s.momentum_decay))

        following = momentum(t + 1)
        product = state["mu_product"]
        if may_read_values(backend_of(param)):
            value = float(product) * momentum(t)
            product[...] = value
            after, now = 1 - value * following, 1 - value
        else:
            product *= momentum(t)
            # As a Python number would be, these are rounded to the dtype of the arithmetic.
            after = (1 - product * following).astype(param.dtype)
            now = (1 - product).astype(param.dtype)
        m_hat = following * m / after + (1 - momentum(t)) * grad / now
        v_hat = v / (1 - s.beta2**t)
        decay = s.alpha * s.weight_decay_rate * param
        return param - decay - s.alpha * m_hat / (xp.sqrt(v_hat) + s.eps)
