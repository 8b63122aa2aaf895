"""Simon Funk's SMORMS3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.backends.operations.optimizer_updates import smorms3_update
from chainer.core.arrays.backend import backend_of
from chainer.training.optimizers._root_mean_square import NormalizedMethod, NormalizedRule

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter


class SMORMS3Rule(NormalizedRule):
    """Update rule of :class:`~chainer.optimizers.SMORMS3`, which describes the hyperparameters.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of ``SMORMS3()`` by default.
        lr, eps (float): Hyperparameters of this rule only; by default those of the parent.
    """

    operation = smorms3_update
    state_names = ("mem", "g", "g2")

    def init_state(self, param: Parameter) -> None:
        """Makes the state arrays: the memory starts at one, the moments at zero."""
        super().init_state(param)
        state: Any = self.state
        # The memory is a length of averaging, which is one gradient at the beginning.
        state["mem"] = backend_of(param.array).xp.ones_like(param.array)


class SMORMS3(NormalizedMethod[SMORMS3Rule]):
    """Simon Funk's SMORMS3.

    See http://sifter.org/~simon/journal/20150420.html.

    Args:
        lr (float): Learning rate.
        eps (float): Small value for the numerical stability.
    """

    rule_class = SMORMS3Rule

    def __init__(self, lr: float = 0.001, eps: float = 1e-16) -> None:
        super().__init__(lr=lr, eps=eps)


# Optimizers of programs that derive from this one read its defaults by the name of release 7.
_default_hyperparam = SMORMS3().hyperparam
