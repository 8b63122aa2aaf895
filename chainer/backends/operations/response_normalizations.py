"""Local response normalization."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class LocalResponseNormalization(Operation):
    """Normalization across neighboring channels.

    ``y = x / scale ** beta`` where ``scale = k + alpha * sums``; ``sums`` are sums of ``x ** 2``
    over the ``n // 2`` channels (axis 1) on each side and the channel itself.

    ``select(x, n=, k=, alpha=, beta=)`` with ``x`` of shape ``(N, C, ...)``.

    Methods:
        ``forward(x, n, k, alpha, beta) -> (y, residual)``; the residual is opaque.

        ``backward(x, y, gy, residual, n, k, alpha, beta) -> gx``.

    float16 is computed in float32.
    """

    name = "local_response_normalization"
    reference = "chainer.backends.numpy.kernels.response_normalizations:ResponseNormalizationKernel"


local_response_normalization = LocalResponseNormalization()
