"""Version number of the settings of all optimizers.

Captured steps depend on attributes, hyperparameters, hooks and update counts of optimizers.
Comparing each one at each call would take a tenth of the time of a small step.
"""

from __future__ import annotations

from chainer.core.change_number import ChangeNumber

#: Renewed whenever an attribute of an optimizer, an update rule or a hyperparameter is set, a hook
#: is added or removed, or parameters are updated.
optimizer_changes = ChangeNumber()


class Watched:
    """Mixin for classes whose attributes are settings of an optimizer."""

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        optimizer_changes.renew()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        optimizer_changes.renew()
