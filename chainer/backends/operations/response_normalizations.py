"""Local response normalization."""

from __future__ import annotations

from typing import NamedTuple

from chainer.core.arrays.kernel import Operation


class ResponseParameters(NamedTuple):
    """Parameters of local response normalization.

    Attributes:
        n: Width of the window of channels.
        k: Constant part of the scale.
        alpha: Factor of the sums of squares.
        beta: Exponent of the scale.
    """

    n: int
    k: float
    alpha: float
    beta: float


class LocalResponseNormalization(Operation):
    """Normalization across neighboring channels.

    ``y = x / scale ** beta`` where ``scale = k + alpha * sums``; ``sums`` are sums of ``x ** 2``
    over the ``n // 2`` channels (axis 1) on each side and the channel itself.

    ``select(x, parameters=)`` with ``x`` of shape ``(N, C, ...)`` and
    :class:`ResponseParameters`.

    Methods:
        ``forward(x, parameters) -> (y, residual)``; the residual is opaque.

        ``backward(x, y, gy, residual, parameters) -> gx``.

    float16 is computed in float32.
    """

    name = "local_response_normalization"
    reference = "chainer.backends.numpy.kernels.response_normalizations:ResponseNormalizationKernel"


local_response_normalization = LocalResponseNormalization()
