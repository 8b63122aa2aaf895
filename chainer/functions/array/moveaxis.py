"""Moving axes."""

from __future__ import annotations

from collections.abc import Sequence

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.functions._errors import InvalidAxis
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsAxes


class Moveaxis(ShiftsAxes, UnaryFunction):
    """Moves axes without copy.

    Args:
        source (int or tuple of int): Axes to move.
        destination (int or tuple of int): Where they go.

    Attributes:
        source: A tuple.
        destination: A tuple of the same length.
    """

    axis_attributes = ("source", "destination")

    is_linear = True

    type_check_key = ("source", "destination")

    def __init__(self, source: int | Sequence[int], destination: int | Sequence[int]) -> None:
        self.source = (source,) if isinstance(source, int) else tuple(source)
        self.destination = (destination,) if isinstance(destination, int) else tuple(destination)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        ndim = type_check.eval(in_types[0].ndim)
        for name, axes in (("source", self.source), ("destination", self.destination)):
            if not all(-ndim <= axis < ndim for axis in axes):
                raise InvalidAxis(f"{name} in the range [-{ndim}, {ndim})", f"{axes}")

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        ndim = x.ndim
        sources = [axis % ndim for axis in self.source]
        targets = [axis % ndim for axis in self.destination]
        if len(sources) != len(targets) or len(set(sources)) != len(sources):
            raise ValueError(
                "source and destination must have the same number of different axes, "
                f"got {self.source} and {self.destination}"
            )
        if len(set(targets)) != len(targets):
            raise ValueError(f"destination must not repeat an axis, got {self.destination}")
        order = [axis for axis in range(ndim) if axis not in sources]
        # In ascending order, so that what is inserted later does not move what is there.
        for target, axis in sorted(zip(targets, sources, strict=True)):
            order.insert(target, axis)
        self._order = tuple(order)
        return (x.transpose(self._order),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        inverse = sorted(range(len(self._order)), key=self._order.__getitem__)
        return gy.transpose(tuple(inverse))


def moveaxis(
    x: VariableLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Variable:
    """Moves axes to new positions; the others stay in their order.

    Args:
        x (Variable or array): Input of any shape.
        source (int or tuple of int): Axes to move.
        destination (int or tuple of int): Where they go.

    Returns:
        Variable: Variable whose axes are moved.

    Raises:
        ValueError: If the numbers of axes differ, or an axis occurs twice or does not exist. The
            last of these errors is an InvalidType as well.

    Example:
        >>> F.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    return Moveaxis(source, destination).apply((x,))[0]
