"""Normalization by the root mean square."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class RMSNormalization(Operation):
    """Division of vectors by the root of their mean square.

    ``select(x, gamma, eps=)``: ``x`` of shape ``(..., D)``, ``gamma`` of shape ``(D,)``. ``y = x /
    sqrt(mean(x ** 2) + eps) * gamma``.

    Methods:
        ``forward(x, gamma, eps) -> (y, inv_rms)``: ``inv_rms`` of shape ``(..., 1)``, float32
        where ``x`` is float16.

        ``backward(x, gamma, gy, inv_rms) -> (gx, ggamma)``.

    float16 is computed in float32. Methods change none of their arguments.
    """

    name = "rms_normalization"
    reference = "chainer.backends.numpy.kernels.rms_normalizations:RMSNormalizationKernel"


rms_normalization = RMSNormalization()
