"""Update rules whose constructor takes hyperparameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from chainer.training.optimizers.hyperparameter import Hyperparameter
from chainer.training.optimizers.update_rule import UpdateRule

if TYPE_CHECKING:
    from chainer.training.optimizers.gradient_method import GradientMethod


class HyperparameterRule(UpdateRule):
    """Base of update rules that are made with hyperparameters of their own.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. If it
            is None, those of a new :attr:`optimizer_class` do, where the rule has one.
        hyperparameters: Hyperparameters of this rule only; None leaves one to the parent.

    Attributes:
        optimizer_class: Class of the optimizer whose defaults the rule has.
    """

    optimizer_class: ClassVar[type[GradientMethod] | None] = None

    def __init__(
        self, parent_hyperparam: Hyperparameter | None = None, **hyperparameters: Any
    ) -> None:
        if parent_hyperparam is None and self.optimizer_class is not None:
            parent_hyperparam = self.optimizer_class().hyperparam
        super().__init__(parent_hyperparam)
        for name, value in hyperparameters.items():
            if value is not None:
                setattr(self.hyperparam, name, value)
