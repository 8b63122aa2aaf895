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
    """

    lr: float = hyperparameter(default=0.001, varies=True)
    eps: float = hyperparameter(default=1e-16)

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
