"""Root mean square normalization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chainer
from chainer_modern.functions import rms_normalization
from chainer_modern.links.normalization._parameters import vector


class RMSNormalization(chainer.Link):
    """Root mean square normalization layer.

    Wraps :func:`chainer.functions.rms_normalization` and has its parameter.

    Args:
        size (int or None): Size of the vectors along the last axis; if None, it is inferred at the
            first call.
        eps (float): Value added to the mean square for numerical stability.
        initial_gamma (initializer): Initializer of the scaling vector; one by default.

    Attributes:
        gamma (Parameter): Scaling parameter of shape ``(size,)``.
        eps (float): Value added to the mean square.

    See: `Root Mean Square Layer Normalization <https://arxiv.org/abs/1910.07467>`_

    Example:
        >>> L.RMSNormalization()(np.array([[1, 7]], np.float32)).array
        array([[0.2, 1.4]], dtype=float32)
    """

    def __init__(
        self, size: int | None = None, eps: float = 1e-6, initial_gamma: Any = None
    ) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            self.gamma = vector(initial_gamma, 1, size)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "size", None if self.gamma.array is None else self.gamma.size
        yield "eps", self.eps

    def forward(self, x: Any) -> chainer.Variable:
        """Normalizes vectors.

        Args:
            x (Variable or array): Vectors, shape ``(..., size)``.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        if self.gamma.array is None:
            self.gamma.initialize(x.shape[-1:])
        return rms_normalization(x, self.gamma, self.eps)
