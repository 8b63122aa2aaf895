"""Base class of the optimizers of this package."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from chainer.training.optimizers.gradient_method import GradientMethod
from chainer.training.optimizers.hyperparameter_rule import HyperparameterRule

R = TypeVar("R", bound=HyperparameterRule)


class RuleBasedMethod(GradientMethod, Generic[R]):
    """Base of optimizers that are a set of hyperparameters and a class of update rules.

    A rule that is made without hyperparameters has the defaults of the optimizer that names it.

    Args:
        hyperparameters: The hyperparameters by name.

    Attributes:
        rule_class: Class of the update rules.
    """

    # Not type[R]: a class variable cannot depend on a type parameter.
    rule_class: ClassVar[type[HyperparameterRule]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        rule_class = cls.__dict__.get("rule_class")
        # The first one: a program may derive another optimizer that has the same rules.
        if rule_class is not None and "optimizer_class" not in rule_class.__dict__:
            rule_class.optimizer_class = cls

    def __init__(self, **hyperparameters: Any) -> None:
        super().__init__()
        for name, value in hyperparameters.items():
            setattr(self.hyperparam, name, value)

    def create_update_rule(self) -> R:
        """Creates a new update rule object.

        Returns:
            UpdateRule: Update rule with the hyperparameters of this optimizer.
        """
        rule: Any = self.rule_class(self.hyperparam)
        return rule
