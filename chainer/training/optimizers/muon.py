"""Muon optimizer."""

from __future__ import annotations

import math
from typing import Any

from chainer.core.typing import Array
from chainer.training.optimizers.declaration import DeclaredOptimizer, moment, zeros_for_formula
from chainer.training.optimizers.hyperparameter import Hyperparameter, hyperparameter

#: Coefficients of the polynomial a x + b x^3 + c x^5 that moves singular values to about one: those
#: of the author, with the steepest slope at zero.
_POLYNOMIAL = (3.4445, -4.7750, 2.0315)


def orthogonalized(xp: Any, matrix: Array, steps: int) -> Array:
    """Returns about the nearest orthogonal matrix, by a Newton-Schulz iteration.

    Args:
        xp: Array namespace.
        matrix (array): Matrix of floating point numbers.
        steps (int): Number of iterations; 5 move singular values to between about 0.7 and 1.2.
    """
    a, b, c = _POLYNOMIAL
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix  # the product below is then the smaller one
    x = x / (xp.sqrt((x * x).sum()) + 1e-7)  # no singular value is larger than one
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.T if tall else x


def _adam_step(xp: Any, param: Array, grad: Array, state: dict[str, Array], s: Any) -> Array:
    m = moment(state, "m", s.beta1, grad) / (1 - s.beta1**s.t)
    v = moment(state, "v", s.beta2, grad * grad) / (1 - s.beta2**s.t)
    return param - s.adam_lr * (m / (xp.sqrt(v) + s.eps) + s.weight_decay_rate * param)


class Muon(DeclaredOptimizer):
    """Muon optimizer: momentum whose matrices are orthogonalized.

    See: `Muon: An optimizer for hidden layers in neural networks
    <https://kellerjordan.github.io/posts/muon/>`_. Parameters of two and more dimensions are
    matrices with the first axis as the rows. Parameters of fewer dimensions, or with the
    hyperparameter ``orthogonal=False``, are updated as AdamW does. The author recommends that for
    embeddings and for the last layer, too: ``optimizer.group(model.out, orthogonal=False)``, before
    the first update.

    Args:
        lr (float): Learning rate of orthogonalized parameters.
        momentum (float): Exponential decay rate of the momentum.
        nesterov (bool): Whether to use Nesterov's momentum.
        ns_steps (int): Number of Newton-Schulz iterations.
        weight_decay_rate (float): Decoupled weight decay, multiplied by the learning rate.
        orthogonal (bool): Whether matrices are orthogonalized.
        adam_lr (float): Learning rate of the other parameters.
        beta1 (float): Exponential decay rate of their first order moment.
        beta2 (float): Exponential decay rate of their second order moment.
        eps (float): Small value for the numerical stability of their update.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.Muon(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.90656316, 0.8131264 ]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.02, varies=True)
    momentum: float = hyperparameter(default=0.95, at_least=-1, below=1)
    nesterov: bool = hyperparameter(default=True)
    ns_steps: int = hyperparameter(default=5, at_least=1)
    weight_decay_rate: float = hyperparameter(default=0.0, at_least=0)
    orthogonal: bool = hyperparameter(default=True)
    adam_lr: float = hyperparameter(default=3e-4, varies=True)
    beta1: float = hyperparameter(default=0.9, at_least=0, below=1)
    beta2: float = hyperparameter(default=0.95, at_least=0, below=1)
    eps: float = hyperparameter(default=1e-8, at_least=0)

    states = ("m", "v")

    @classmethod
    def initial_states(cls, hyperparam: Hyperparameter, array: Array) -> dict[str, Array]:
        """Returns the momentum, and the squares where AdamW updates the parameter."""
        is_matrix = array.ndim >= 2 and hyperparam.orthogonal
        shape = (0,) if is_matrix else array.shape
        return {
            "m": zeros_for_formula(array, array.shape),
            "v": zeros_for_formula(array, shape),
        }

    @staticmethod
    def step(xp: Any, param: Array, grad: Array, state: dict[str, Array], scalars: Any) -> Array:
        """Returns the parameter after an update, and changes the state."""
        s = scalars
        is_matrix = param.ndim >= 2 and s.orthogonal
        if state["v"].shape == param.shape and not is_matrix:
            return _adam_step(xp, param, grad, state, s)
        if param.size == 0:
            return param
        momentum = state["m"]
        momentum *= s.momentum
        momentum += grad
        direction = grad + s.momentum * momentum if s.nesterov else momentum
        matrix = direction.reshape(len(param), -1)
        rows, columns = matrix.shape
        update = orthogonalized(xp, matrix, s.ns_steps).reshape(param.shape)
        update = update * math.sqrt(max(1.0, rows / columns))
        return param - s.lr * (update + s.weight_decay_rate * param)
