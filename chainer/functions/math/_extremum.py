"""Base class of maximum and minimum."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.typing import Arrays, Indexes
from chainer.core.utils.documentation import SharedSections
from chainer.functions.math._operators import FloatBroadcastingFunction
from chainer.functions.rules import Ops, Value, array_of

extremum_sections = SharedSections(
    """
    Args:
        x1 (Variable or array): First input, floating point.
        x2 (Variable or array): Second input of the same dtype and of a shape that broadcasts with
            that of ``x1``.
        xs (Variable or array): More inputs.

    Returns:
        Variable: Elementwise $extremum. Where inputs are equal, the first gets the gradient.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
    """
)


class Extremum(FloatBroadcastingFunction):
    """Elementwise choice between two arrays; a tie goes to the first."""

    argument_names = ("x1", "x2")

    retained_inputs = (0, 1)
    #: Name of the comparison and of the choice in the array namespace.
    comparison: ClassVar[str]
    choice: ClassVar[str]

    def forward(self, inputs: Arrays) -> Arrays:
        return (getattr(self.xp, self.choice)(*inputs),)

    def partials(self, ops: Ops, targets: Indexes, x1: Value, x2: Value, gy: Value) -> list[Value]:
        # Which input is chosen is constant almost everywhere.
        first = getattr(self.xp, self.comparison)(array_of(x1), array_of(x2))
        return [gy * (~first if i else first) for i in targets]
