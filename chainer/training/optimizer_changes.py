"""The number of changes to optimizers: attributes, hyperparameters, hooks and counts of updates.

Captured steps rely on all of them. Looking at each one at each call takes a tenth of a small step.
"""

from __future__ import annotations

from chainer.core.change_number import ChangeNumber

#: Renewed by each change to an attribute of an optimizer, an update rule or a hyperparameter, by
#: hooks that are added or removed, and by updates.
optimizer_changes = ChangeNumber()


class Watched:
    """Mixed into classes whose attributes are settings of an optimizer."""

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        optimizer_changes.renew()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        optimizer_changes.renew()
