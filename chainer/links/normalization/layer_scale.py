"""Learned factors of the output of a layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math.scale import scale
from chainer.links.initializers import get_initializer
from chainer.links.link import Link


class LayerScale(Link):
    """Product with a learned factor for each channel.

    The output of a layer is multiplied by it before it is added to the input of the layer, ``h +
    scale(f(h))``. The factors are small at first, so that a deep network begins near the identity.

    Args:
        size (int or None): Number of channels; if None, it is inferred at the first call.
        initial_scale (float or initializer): Factors at first.
        axis (int): Axis of the channels: the last one, or 1 for images.

    Attributes:
        gamma (Parameter): The factors, shape ``(size,)``.
        axis (int): Axis of the channels.

    See: `Going deeper with Image Transformers <https://arxiv.org/abs/2103.17239>`_

    Example:
        >>> L.LayerScale(3, 0.5)(np.ones((2, 3), np.float32)).array
        array([[0.5, 0.5, 0.5],
               [0.5, 0.5, 0.5]], dtype=float32)
        >>> L.LayerScale(axis=1)(np.ones((2, 3, 4, 4), np.float32)).shape
        (2, 3, 4, 4)
    """

    def __init__(self, size: int | None = None, initial_scale: Any = 1e-5, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis
        with self.init_scope():
            self.gamma = Parameter(get_initializer(initial_scale), size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "size", None if self.gamma.array is None else self.gamma.size
        yield "axis", self.axis

    def forward(self, x: VariableLike) -> Variable:
        """Multiplies the channels by their factors.

        Args:
            x (Variable or array): Input, whose axis ``axis`` has the channels.

        Returns:
            Variable: Output of the shape of ``x``.

        Raises:
            ValueError: If ``x`` does not have the axis.
        """
        if not -x.ndim <= self.axis < x.ndim:
            raise ValueError(f"x must have the axis {self.axis} of the channels, got {x.shape}")
        axis = self.axis % x.ndim
        if self.gamma.array is None:
            self.gamma.initialize(x.shape[axis])
        return scale(x, self.gamma, axis)
