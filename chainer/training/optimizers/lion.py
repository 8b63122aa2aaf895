"""Lion optimizer."""

from __future__ import annotations

from typing import Any

from chainer.core.typing import Array
from chainer.training.optimizers.declaration import DeclaredOptimizer, moment
from chainer.training.optimizers.hyperparameter import hyperparameter


class Lion(DeclaredOptimizer):
    """Lion optimizer: steps by the sign of a moving average of the gradients.

    See: `Symbolic Discovery of Optimization Algorithms <https://arxiv.org/abs/2302.06675>`_. The
    paper recommends a third to a tenth of AdamW's learning rate, and three to ten times its weight
    decay.

    Args:
        lr (float): Learning rate, the size of each step.
        beta1 (float): Share of the average in the direction of a step.
        beta2 (float): Exponential decay rate of the average.
        weight_decay_rate (float): Weight decay, multiplied by ``lr``.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.Lion(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.6999999, 0.6999999]], dtype=float32)
    """

    lr: float = hyperparameter(default=1e-4, varies=True)
    beta1: float = hyperparameter(default=0.9, at_least=0, below=1)
    beta2: float = hyperparameter(default=0.99, at_least=0, below=1)
    weight_decay_rate: float = hyperparameter(default=0.0, at_least=0)

    states = ("m",)
    is_elementwise = True

    @staticmethod
    def step(xp: Any, param: Array, grad: Array, state: dict[str, Array], scalars: Any) -> Array:
        """Returns the parameter after an update, and changes the state."""
        s = scalars
        direction = xp.sign(s.beta1 * state["m"] + (1 - s.beta1) * grad)
        moment(state, "m", s.beta2, grad)
        return param - s.lr * (direction + s.weight_decay_rate * param)
