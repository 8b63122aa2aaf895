"""Layer normalization over the last axis, as Transformers use it."""

from __future__ import annotations

from typing import Any

import chainer
import chainer.functions as F
from chainer_modern.links.normalization._parameters import vector


class LayerNorm(chainer.Link):
    """Layer normalization of vectors along the last axis, whatever the axes before.

    ``L.LayerNormalization`` takes a batch of vectors, and warns that it is experimental.

    Args:
        size (int or None): Size of the vectors; if None, it is inferred at the first call.
        eps (float): Value added to the variance for numerical stability.
    """

    def __init__(self, size: int | None = None, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        with self.init_scope():
            self.gamma = vector(None, 1, size)
            self.beta = vector(None, 0, size)

    def forward(self, x: Any) -> chainer.Variable:
        """Normalizes vectors, shape ``(..., size)``."""
        if self.gamma.array is None:
            self.gamma.initialize(x.shape[-1:])
            self.beta.initialize(x.shape[-1:])
        rows = F.reshape(x, (-1, x.shape[-1])) if x.ndim != 2 else x
        y = F.layer_normalization(rows, self.gamma, self.beta, self.eps)
        return F.reshape(y, x.shape) if x.ndim != 2 else y
