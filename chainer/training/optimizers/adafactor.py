"""Adafactor optimizer."""

from __future__ import annotations

import math
from typing import Any

from chainer.core.arrays.recorder import computed
from chainer.core.typing import Array
from chainer.training.optimizers.declaration import DeclaredOptimizer, moment, zeros_for_formula
from chainer.training.optimizers.hyperparameter import Hyperparameter, hyperparameter

#: Largest relative step of the paper's schedule, min(1e-2, 1 / sqrt(t)).
_MAX_RELATIVE_STEP = 1e-2


def _scheduled_rate(t: float) -> float:
    return min(_MAX_RELATIVE_STEP, 1 / math.sqrt(t))


def _rms(xp: Any, array: Array) -> Array:
    return xp.sqrt((array * array).mean())


class Adafactor(DeclaredOptimizer):
    """Adafactor optimizer: adaptive steps whose state of a matrix is one row and one column.

    See: `Adafactor: Adaptive Learning Rates with Sublinear Memory Cost
    <https://arxiv.org/abs/1804.04235>`_. Parameters of more than two dimensions, such as filters,
    are matrices with the first axis as the rows.

    Args:
        lr (float): Learning rate; None for the schedule of the paper, ``min(0.01, 1 / sqrt(t))``.
        eps1 (float): Small value that is added to squared gradients.
        eps2 (float): Smallest root mean square by which the step of a parameter is scaled.
        clipping_threshold (float): Largest root mean square of an update.
        decay_rate (float): The average of squares keeps the share ``1 - t ** -decay_rate``.
        scale_parameter (bool): Whether the step is scaled by the root mean square of the parameter.
        weight_decay_rate (float): Decoupled weight decay, multiplied by the size of the step.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.Adafactor(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.7398965, 0.7398965]], dtype=float32)
    """

    lr: float | None = hyperparameter(default=None, varies=True)
    eps1: float = hyperparameter(default=1e-30, at_least=0)
    eps2: float = hyperparameter(default=1e-3, at_least=0)
    clipping_threshold: float = hyperparameter(default=1.0)
    decay_rate: float = hyperparameter(default=0.8)
    scale_parameter: bool = hyperparameter(default=True)
    weight_decay_rate: float = hyperparameter(default=0.0, at_least=0)

    states = ("rows", "columns")

    @classmethod
    def initial_states(cls, hyperparam: Hyperparameter, array: Array) -> dict[str, Array]:
        """Returns the means of the squared gradients of a matrix by row and by column.

        For a vector ``rows`` is the mean of each element, and ``columns`` is empty.
        """
        shape = array.shape
        rows, columns = (shape, (0,)) if len(shape) < 2 else (shape[:1], (math.prod(shape[1:]),))
        return {
            "rows": zeros_for_formula(array, rows),
            "columns": zeros_for_formula(array, columns),
        }

    @staticmethod
    def step(xp: Any, param: Array, grad: Array, state: dict[str, Array], scalars: Any) -> Array:
        """Returns the parameter after an update, and changes the state."""
        s = scalars
        if param.size == 0:
            return param
        beta = 1.0 - s.t**-s.decay_rate
        square = grad * grad + s.eps1
        if param.ndim < 2:
            mean_square = moment(state, "rows", beta, square)
        else:
            square = square.reshape(len(square), -1)
            rows = moment(state, "rows", beta, square.mean(axis=1))
            columns = moment(state, "columns", beta, square.mean(axis=0))
            # Means instead of sums: the quotient is the same, and no sum overflows.
            mean_square = (rows[:, None] / rows.mean() * columns[None]).reshape(grad.shape)
        update = grad / xp.sqrt(mean_square)
        update = update / xp.maximum(_rms(xp, update) / s.clipping_threshold, 1.0)
        rate = computed(_scheduled_rate, s.t) if s.lr is None else s.lr
        if s.scale_parameter:
            rate = rate * xp.maximum(_rms(xp, param), s.eps2)
        return param - rate * update - rate * s.weight_decay_rate * param
