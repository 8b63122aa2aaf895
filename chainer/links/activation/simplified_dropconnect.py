"""Fully-connected layer with dropconnect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.noise import simplified_dropconnect
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_features


class SimplifiedDropconnect(Link):
    """Fully-connected layer with simplified dropconnect regularization.

    Wraps :func:`chainer.functions.simplified_dropconnect`. It cannot reproduce the results of the
    paper: the paper samples from a normal distribution before the activation function, whereas this
    link uses the mean.

    See Li et al., `Regularization of Neural Network using DropConnect
    <https://proceedings.mlr.press/v28/wan13.html>`_, ICML 2013.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of output vectors.
        ratio (float): Probability with which a weight is dropped.
        nobias, initialW, initial_bias: As for :class:`~chainer.links.Linear`.

    Attributes:
        W, b (Parameter): Weight and bias, as in :class:`~chainer.links.Linear`.

    Example:
        >>> L.SimplifiedDropconnect(3, 2)(np.zeros((4, 3), np.float32)).shape
        (4, 2)
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        ratio: float = 0.5,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        super().__init__()
        self.out_size = out_size
        self.ratio = ratio
        with self.init_scope():
            self.W = Parameter(get_initializer(initialW))
            if in_size is not None:
                self._initialize_params(in_size)
            if nobias:
                self.b = None
            else:
                self.b = Parameter(get_initializer(initial_bias, default=0), out_size)

    def _initialize_params(self, in_size: int) -> None:
        self.W.initialize((self.out_size, in_size))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_size", None if self.W.array is None else self.W.shape[1]
        yield "out_size", self.out_size
        yield "ratio", self.ratio
        yield "nobias", self.b is None

    def forward(
        self,
        x: VariableLike,
        train: bool = True,
        mask: VariableLike | None = None,
        use_batchwise_mask: bool = True,
    ) -> Variable:
        """Applies the simplified dropconnect layer.

        Args:
            x (Variable or array): Batch of input vectors, shape ``(B, in_size)``; further axes are
                flattened.
            train (bool): If False, nothing is dropped. ``chainer.config.train`` has no effect.
            mask (None, Variable or array): Mask of shape ``(B, out_size, in_size)`` or
                ``(out_size, in_size)`` to be used in place of a random one, mainly for debugging.
            use_batchwise_mask (bool): Whether a random mask is drawn for each sample.

        Returns:
            Variable: Output of shape ``(B, out_size)``.
        """
        if self.W.array is None:
            self._initialize_params(infer_features(self, x))
        return simplified_dropconnect.simplified_dropconnect(
            x, self.W, self.b, self.ratio, train, mask, use_batchwise_mask
        )
