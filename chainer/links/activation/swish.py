"""Swish activation function with a learned parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, ShapeLike, VariableLike
from chainer.functions.activation import swish
from chainer.links.link import Link


class Swish(Link):
    """Swish activation function as a link: ``x sigmoid(beta x)``.

    Wraps :func:`chainer.functions.swish`.

    See `Searching for Activation Functions <https://arxiv.org/abs/1710.05941>`_.

    Args:
        beta_shape (tuple of ints or None): Shape of the parameter ``beta``. It matches the first
            axes of the input after the batch axis, or it is ``()``. If None, it matches all axes
            after the batch axis, and is inferred at the first call.
        beta_init (float): Initial value of the parameter.

    Attributes:
        beta (Parameter): Parameter variable.

    Example:
        >>> model = chainer.Sequential(L.Linear(None, 10), L.Swish(None))
        >>> model(np.zeros((2, 3), np.float32)).shape
        (2, 10)
    """

    def __init__(self, beta_shape: ShapeLike | None, beta_init: InitializerLike = 1.0) -> None:
        super().__init__()
        with self.init_scope():
            # Only None leaves the shape open: () is the shape of one number for all elements.
            if beta_shape is None:
                self.beta = Parameter(beta_init)
            else:
                self.beta = Parameter(beta_init, beta_shape)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "beta_shape", None if self.beta.array is None else self.beta.shape

    def forward(self, x: VariableLike) -> Variable:
        """Applies the Swish activation function.

        Args:
            x (Variable or array): Input of shape ``(B, *beta_shape, ...)``.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        if self.beta.array is None:
            self.beta.initialize(x.shape[1:])
        return swish.swish(x, self.beta)
