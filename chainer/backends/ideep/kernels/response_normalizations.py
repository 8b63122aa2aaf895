"""oneDNN kernel of local response normalization."""

from __future__ import annotations

from typing import Any

from chainer.backends.ideep.kernels._base import IdeepKernel


class ResponseNormalizationKernel(IdeepKernel):
    """Kernel of ``local_response_normalization``; oneDNN divides ``alpha`` by ``n``."""

    def forward(self, x: Any, n: int, k: float, alpha: float, beta: float) -> tuple[Any, Any]:
        return self.ops.local_response_normalization(x, n, k, alpha * n, beta)

    def backward(
        self,
        x: Any,
        y: Any,
        gy: Any,
        residual: Any,
        n: int,
        k: float,
        alpha: float,
        beta: float,
    ) -> Any:
        return self.ops.local_response_normalization_backward(
            x, gy, n, k, alpha * n, beta, workspace=residual
        )
