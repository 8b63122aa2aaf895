"""Signum (Bernstein et al., 2018, https://arxiv.org/abs/1802.04434)."""

from __future__ import annotations

from typing import Any

from chainer.optimizer import DeclaredOptimizer, hyperparameter


class Signum(DeclaredOptimizer):
    """Signum: steps by the signs of a moving average of gradients.

    With the gradient ``g`` of a parameter ``p``::

        m  = beta * m + (1 - beta) * g
        p -= lr * (sign(m) + weight_decay * p)

    Args:
        lr: Learning rate; a third to a tenth of what Adam wants.
        beta: Decay of the average, from 0 to below 1.
        weight_decay: Decoupled weight decay, relative to ``lr``.
    """

    # Arguments of the constructor and attributes, so that `optimizer.lr /= 2` works.
    # A recorded step (chainer.capture) reads those that vary at each call.
    lr: float = hyperparameter(default=1e-4, varies=True)
    beta: float = hyperparameter(default=0.9)
    weight_decay: float = hyperparameter(default=0.0)

    # Arrays like the parameter, zeros at first; saved, loaded and moved with it.
    states = ("m",)
    # An element is updated without looking at the others.
    is_elementwise = True

    @staticmethod
    def step(xp: Any, param: Any, grad: Any, state: dict[str, Any], scalars: Any) -> Any:
        """Returns the parameter after an update, and changes the state in place."""
        m = state["m"]
        m *= scalars.beta
        m += (1 - scalars.beta) * grad
        return param - scalars.lr * (xp.sign(m) + scalars.weight_decay * param)
