"""Root mean square normalization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.normalization import rms_normalization
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_last_axis


class RMSNormalization(Link):
    """Root mean square normalization layer.

    Wraps :func:`chainer.functions.rms_normalization` and has its parameter.

    Args:
        size (int or None): Size of the vectors along the last axis; if None, it is inferred at the
            first call.
        eps (float): Value added to the mean square for numerical stability.
        initial_gamma (initializer): Initializer of the scaling vector; one by default, less
            ``offset``.
        offset (float): Value added to the scaling vector.

    Attributes:
        gamma (Parameter): Scaling parameter of shape ``(size,)``.
        eps (float): Value added to the mean square.
        offset (float): Value added to the scaling vector.

    See: `Root Mean Square Layer Normalization <https://arxiv.org/abs/1910.07467>`_

    Example:
        >>> L.RMSNormalization()(np.array([[1, 7]], np.float32)).array
        array([[0.2, 1.4]], dtype=float32)
    """

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-6,
        initial_gamma: InitializerLike = None,
        offset: float = 0.0,
    ) -> None:
        super().__init__()
        self.eps = eps
        self.offset = offset
        with self.init_scope():
            self.gamma = Parameter(get_initializer(initial_gamma, default=1 - offset), size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "size", None if self.gamma.array is None else self.gamma.size
        yield "eps", self.eps
        if self.offset:
            yield "offset", self.offset

    def forward(self, x: VariableLike) -> Variable:
        """Normalizes vectors.

        Args:
            x (Variable or array): Vectors, shape ``(..., size)``.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        if self.gamma._array is None:
            self.gamma.initialize(infer_last_axis(self, x))
        return rms_normalization.normalized(x, self.gamma, self.eps, self.offset)
