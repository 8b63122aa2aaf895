"""oneDNN kernel of local response normalization."""

from __future__ import annotations

from typing import Any

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.typing import Array


class ResponseNormalizationKernel(IdeepKernel):
    """Kernel of ``local_response_normalization``.

    oneDNN divides ``alpha`` by ``n``, which the factor ``n`` below undoes.
    """

    def forward(self, x: Array, n: int, k: float, alpha: float, beta: float) -> tuple[Array, Array]:
        return self.ops.local_response_normalization(x, n, k, alpha * n, beta)

    def backward(
        self,
        x: Array,
        y: Array,
        gy: Array,
        residual: Any,
        n: int,
        k: float,
        alpha: float,
        beta: float,
    ) -> Array:
        return self.ops.local_response_normalization_backward(
            x, gy, n, k, alpha * n, beta, workspace=residual
        )
