"""Fully-connected layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.connection import linear
from chainer.links.connection._convolution import given_params
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_features

if TYPE_CHECKING:
    from typing import Self


class Linear(Link):
    """Linear layer (a.k.a. fully-connected layer): ``y = x W^T + b``.

    Wraps :func:`chainer.functions.linear` and holds the weight and bias as parameters. By default
    the weight is drawn from a normal distribution of mean 0 and standard deviation
    ``sqrt(1 / in_size)``, and the bias is zero.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if it is None or
            omitted. With one size given, that is the output size.
        out_size (int): Size of output vectors.
        nobias (bool): Whether there is no bias.
        initialW (initializer): Initializer of the weight; an array has shape
            ``(out_size, in_size)``.
        initial_bias (initializer): Initializer of the bias; an array has shape ``(out_size,)``.

    Attributes:
        W (Parameter): Weight of shape ``(out_size, in_size)``.
        b (Parameter): Bias of shape ``(out_size,)``; None without one.

    Example:
        >>> x = np.array([[0, 1, 2, 3, 4]], np.float32)
        >>> L.Linear(5, 10)(x).shape
        (1, 10)
        >>> L.Linear(10)(x).shape
        (1, 10)
    """

    W: Parameter
    b: Parameter | None
    # Links restored from pickles of release 4 lack the attribute.
    in_size: int | None = None

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        super().__init__()
        # Linear(n) means n outputs.
        if out_size is None:
            in_size, out_size = None, in_size
        if out_size is None:
            raise TypeError(
                "Linear needs an output size: Linear(out_size) or Linear(in_size, out_size)"
            )
        self.in_size = in_size
        self.out_size = out_size
        with self.init_scope():
            self.W = Parameter(get_initializer(initialW))
            if in_size is not None:
                self._initialize_params(in_size)
            self.b = None
            if not nobias:
                self.b = Parameter(get_initializer(initial_bias, default=0), out_size)

    @classmethod
    def from_params(
        cls, W: VariableLike, b: VariableLike | None = None, nobias: bool = False
    ) -> Self:
        """Creates a link whose parameters are copies of given arrays.

        Args:
            W (Variable or array): Weight of shape ``(out_size, in_size)``.
            b (Variable or array): Bias of shape ``(out_size,)``; zero by default.
            nobias (bool): Whether there is no bias, even if one is given.

        Returns:
            Linear: The link; its parameters are of dtype ``chainer.config.dtype``.

        Raises:
            ValueError: If the shapes do not fit.

        Example:
            >>> W = np.array([[1, 2, 3], [4, 5, 6]])
            >>> L.Linear.from_params(W)
            Linear(in_size=3, out_size=2, nobias=False)
        """
        W, b = given_params(W, b, nobias, "out_size")
        out_size, in_size = W.shape
        return cls(in_size, out_size, nobias, W, b)

    def _initialize_params(self, in_size: int) -> None:
        self.W.initialize((self.out_size, in_size))

    def _infer_sizes(self, x: VariableLike, n_batch_axes: int = 1) -> None:
        """Initializes the weight for an input, unless it is initialized."""
        if self.W.array is None:
            self.in_size = infer_features(self, x, n_batch_axes)
            self._initialize_params(self.in_size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_size", self.in_size
        yield "out_size", self.out_size
        yield "nobias", self.b is None

    def forward(self, x: VariableLike, n_batch_axes: int = 1) -> Variable:
        """Applies the linear layer.

        Args:
            x (Variable or array): Batch of input vectors, shape ``(B, in_size)``; axes after the
                first ``n_batch_axes`` are flattened to one.
            n_batch_axes (int): Number of batch axes, kept in the output.

        Returns:
            Variable: Output of shape ``(B, out_size)``.
        """
        if type(n_batch_axes) is not int and not isinstance(n_batch_axes, numpy.integer):
            kind = type(n_batch_axes).__name__
            raise TypeError(
                f"n_batch_axes must be an integer, got {kind}: Linear has one input. To train it "
                "on pairs (x, t), wrap it in a link that returns a loss, such as L.Classifier"
            )
        if self.W._array is None:
            self._infer_sizes(x, n_batch_axes)
        return linear.linear(x, self.W, self.b, n_batch_axes)
