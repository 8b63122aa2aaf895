"""Parametric ReLU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, ShapeLike, VariableLike
from chainer.functions.activation import prelu
from chainer.links.link import Link


class PReLU(Link):
    """Parametric ReLU function as a link: ``max(0, x) + W min(0, x)``.

    Wraps :func:`chainer.functions.prelu`.

    See `Delving Deep into Rectifiers: Surpassing Human-Level Performance on ImageNet Classification
    <https://arxiv.org/abs/1502.01852>`_.

    Args:
        shape (tuple of ints): Shape of the parameter array. It matches the first axes of the input
            after the batch axis.
        init (float): Initial parameter value.

    Attributes:
        W (Parameter): Coefficient of parametric ReLU.

    Example:
        >>> L.PReLU()(np.array([[-2, 0, 2]], np.float32))
        variable([[-0.5,  0. ,  2. ]])
    """

    def __init__(self, shape: ShapeLike = (), init: InitializerLike = 0.25) -> None:
        super().__init__()
        with self.init_scope():
            self.W = Parameter(init, shape)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "shape", self.W.shape

    def forward(self, x: VariableLike) -> Variable:
        """Applies the parametric ReLU activation function.

        Args:
            x (Variable or array): Input of shape ``(B, *shape, ...)``.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        return prelu.prelu(x, self.W)
