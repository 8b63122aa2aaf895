"""Learned scale along given axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ShapeLike, VariableLike
from chainer.functions.math import scale
from chainer.links.chain import Chain
from chainer.links.connection.bias import Bias, check_operands


class Scale(Chain):
    """Broadcasted elementwise product with learnable parameters.

    Computes what :func:`chainer.functions.scale` does, with a learned second input.

    Args:
        axis (int): First axis of the input along which the weight is applied.
        W_shape (tuple of ints): Shape of the weight. If None, the link has no weight, and the
            weight is the second input.
        bias_term (bool): Whether to add a learned bias, too.
        bias_shape (tuple of ints): Shape of the bias; only needed (and used) without ``W_shape``.

    Attributes:
        W (Parameter): Weight, one at first; there is none without ``W_shape``.
        bias (Bias): Bias; there is none without ``bias_term``.

    Raises:
        ValueError: If the shape of the bias is not known.

    Example:
        >>> x = np.zeros((2, 3, 4), np.float32)
        >>> L.Scale(axis=1, W_shape=(3,), bias_term=True)(x).shape
        (2, 3, 4)
    """

    def __init__(
        self,
        axis: int = 1,
        W_shape: ShapeLike | None = None,
        bias_term: bool = False,
        bias_shape: ShapeLike | None = None,
    ) -> None:
        super().__init__()
        self.axis = axis
        # If the link has a weight, the bias has the same shape.
        if W_shape is not None:
            bias_shape = W_shape
        if bias_term and bias_shape is None:
            raise ValueError(
                "bias_shape should be given if W is not learned parameter and bias_term is True."
            )
        with self.init_scope():
            if W_shape is not None:
                self.W = Parameter(1, W_shape)
            if bias_term:
                self.bias = Bias(axis, bias_shape)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "axis", self.axis
        yield "W_shape", self.W.shape if hasattr(self, "W") else None
        yield "bias_term", hasattr(self, "bias")

    def forward(self, *xs: VariableLike) -> Variable:
        """Applies broadcasted elementwise product.

        Args:
            xs (list of Variables): The input; if the link has no weight, also the weight. The shape
                of the weight matches the axes of the input that it multiplies.

        Returns:
            Variable: Product (plus bias), of the shape of the input.

        Raises:
            ValueError: If the number of inputs is wrong.
        """
        own = getattr(self, "W", None)
        check_operands(self, xs, own, "W")
        x, W = xs if own is None else (xs[0], own)
        y = scale.scale(x, W, axis=self.axis)
        return self.bias(y) if hasattr(self, "bias") else y
