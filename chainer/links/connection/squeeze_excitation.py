"""Squeeze-and-excitation: channels are weighted by what an image shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.activation.relu import relu
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape
from chainer.functions.math.average import average
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear


class SqueezeExcitation(Chain):
    """Squeeze-and-excitation: a factor for each channel, computed from the means of all.

    ``x * gate(expand(activation(squeeze(mean of x over the positions))))``

    Args:
        in_channels (int): Number of channels.
        squeeze_channels (int or None): Size of the layer between; a sixteenth of ``in_channels``,
            at least 1, if None.
        activation (callable): Function of the layer between.
        gate (callable): Function that makes the factors. Networks such as MobileNetV3 have
            ``lambda x: F.clip(x / 6 + 0.5, 0.0, 1.0)``; the slope of ``F.hard_sigmoid`` is 0.2.
        initialW (initializer): Initializer of the weights.
        initial_bias (initializer): Initializer of the biases; zero by default.

    Attributes:
        squeeze (Linear): From all channels to the layer between.
        expand (Linear): Back to all channels.

    Raises:
        ValueError: If a number of channels is not positive.

    See: `Squeeze-and-Excitation Networks <https://arxiv.org/abs/1709.01507>`_

    Example:
        >>> L.SqueezeExcitation(32)(np.ones((2, 32, 5, 5), np.float32)).shape
        (2, 32, 5, 5)
    """

    def __init__(
        self,
        in_channels: int,
        squeeze_channels: int | None = None,
        activation: Callable[[Variable], Variable] = relu,
        gate: Callable[[Variable], Variable] = sigmoid,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        super().__init__()
        if squeeze_channels is None:
            squeeze_channels = max(in_channels // 16, 1)
        if in_channels < 1 or squeeze_channels < 1:
            raise ValueError(
                "in_channels and squeeze_channels must be positive, "
                f"got {in_channels} and {squeeze_channels}"
            )
        self.activation = activation
        self.gate = gate
        with self.init_scope():
            self.squeeze = Linear(in_channels, squeeze_channels, False, initialW, initial_bias)
            self.expand = Linear(squeeze_channels, in_channels, False, initialW, initial_bias)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_channels", self.expand.out_size
        yield "squeeze_channels", self.squeeze.out_size

    def forward(self, x: VariableLike) -> Variable:
        """Weights the channels.

        Args:
            x (Variable or array): Images or sequences, shape ``(B, in_channels, ...)``.

        Returns:
            Variable: Output of the shape of ``x``.

        Raises:
            ValueError: If ``x`` has less than three axes.
        """
        if x.ndim < 3:
            raise ValueError(f"x must have the shape (B, C, ...), got {x.shape}")
        means = average(x, axis=tuple(range(2, x.ndim)))
        factors = self.gate(self.expand(self.activation(self.squeeze(means))))
        factors = reshape(factors, (*x.shape[:2], *(1,) * (x.ndim - 2)))
        return x * broadcast_to(factors, x.shape)
