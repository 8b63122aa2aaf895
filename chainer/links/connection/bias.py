"""Learned bias along given axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ShapeLike, VariableLike
from chainer.functions.math import bias
from chainer.links.errors import InvalidValueError
from chainer.links.link import Link


def check_operands(
    link: Link, operands: tuple[VariableLike, ...], param: Parameter | None, name: str
) -> None:
    """Raises unless a link with (or without) its own parameter got one (or two) operands."""
    expected = 2 if param is None else 1
    if len(operands) != expected:
        reason = f"it has no parameter {name}" if param is None else f"it has a parameter {name}"
        raise InvalidValueError(
            f"{type(link).__name__} takes {expected} input(s) since {reason}, got {len(operands)}"
        )


class Bias(Link):
    """Broadcasted elementwise summation with learnable parameters.

    Computes what :func:`chainer.functions.bias` does, with a learned second input.

    Args:
        axis (int): First axis of the input along which the bias is applied.
        shape (tuple of ints): Shape of the bias. If None, the link has no parameter, and the bias
            is the second input.

    Attributes:
        b (Parameter): Bias, zero at first; there is none without ``shape``.

    Example:
        >>> x = np.zeros((2, 3, 4), np.float32)
        >>> L.Bias(axis=1, shape=(3,))(x).shape
        (2, 3, 4)
    """

    def __init__(self, axis: int = 1, shape: ShapeLike | None = None) -> None:
        super().__init__()
        self.axis = axis
        if shape is not None:
            with self.init_scope():
                self.b = Parameter(0, shape)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "axis", self.axis
        yield "shape", self.b.shape if hasattr(self, "b") else None

    def forward(self, *xs: VariableLike) -> Variable:
        """Applies broadcasted elementwise summation.

        Args:
            xs (list of Variables): The input; if the link has no parameter, also the bias. The
                shape of the bias matches the axes of the input to which it is added.

        Returns:
            Variable: Sum, of the shape of the input.

        Raises:
            ValueError: If the number of inputs is wrong.
        """
        own = getattr(self, "b", None)
        check_operands(self, xs, own, "b")
        x, b = xs if own is None else (xs[0], own)
        return bias.bias(x, b, axis=self.axis)
