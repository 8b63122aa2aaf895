"""Simon Funk's SMORMS3."""

from __future__ import annotations

from chainer.backends.operations.optimizer_updates import smorms3_update
from chainer.core.arrays.backend import backend_of
from chainer.core.typing import Array
from chainer.training.optimizers.declaration import DeclaredOptimizer, DeclaredRule
from chainer.training.optimizers.hyperparameter import Hyperparameter, hyperparameter


class SMORMS3Rule(DeclaredRule):
    """Update rule of :class:`~chainer.optimizers.SMORMS3`."""


class SMORMS3(DeclaredOptimizer):
    """Simon Funk's SMORMS3.

    See http://sifter.org/~simon/journal/20150420.html.

    Args:
        lr (float): Learning rate.
        eps (float): Small value for the numerical stability.

    Example:
        >>> model = L.Linear(2, 1, initialW=1)
        >>> optimizer = chainer.optimizers.SMORMS3(lr=0.1).setup(model)
        >>> x = np.array([[1, 2]], np.float32)
        >>> for step in range(3):
        ...     optimizer.update(lambda: F.sum(model(x) ** 2))
        ...
        >>> model.W.array
        array([[0.6575211, 0.6575211]], dtype=float32)
    """

    lr: float = hyperparameter(default=0.001, varies=True)
    eps: float = hyperparameter(default=1e-16, at_least=0)

    operation = smorms3_update
    states = ("mem", "g", "g2")
    rule_class = SMORMS3Rule

    @classmethod
    def initial_states(cls, hyperparam: Hyperparameter, array: Array) -> dict[str, Array]:
        """Returns the states: the memory starts at one, the moments at zero."""
        states = super().initial_states(hyperparam, array)
        # The memory is a length of averaging, which is one gradient at the beginning.
        states["mem"] = backend_of(array).xp.ones_like(array)
        return states


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = SMORMS3().hyperparam
