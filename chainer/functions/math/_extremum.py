"""Base class of maximum and minimum."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.typing import Array, Arrays, Indexes
from chainer.core.utils.documentation import SharedSections
from chainer.functions.math._operators import FloatBroadcastingFunction
from chainer.functions.rules import Ops, Value, array_of
from chainer.functions.rules.selection import keep

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
    #: Name of the choice in the array namespace.
    choice: ClassVar[str]

    def is_chosen(self, i: int, x1: Array, x2: Array) -> Array:
        """Returns where an input is the one that is chosen.

        Args:
            i: 0 for the first input, 1 for the second.
            x1: First input.
            x2: Second input.
        """
        raise NotImplementedError

    def forward(self, inputs: Arrays) -> Arrays:
        return (getattr(self.xp, self.choice)(*inputs),)

    def partials(self, ops: Ops, targets: Indexes, x1: Value, x2: Value, gy: Value) -> list[Value]:
        # Which input is chosen is constant almost everywhere.
        arrays = array_of(x1), array_of(x2)
        return [keep(ops, self.xp, self.is_chosen(i, *arrays), gy) for i in targets]
