"""Normalization of groups of channels."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class GroupNormalization(Operation):
    """Normalization of groups of channels of each sample.

    ``select(x, gamma, beta, groups=, eps=)``: ``x`` of shape ``(N, C, ...)``, ``gamma`` and
    ``beta`` of shape ``(C,)`` and one dtype, which ``x`` need not share; ``groups`` divides ``C``.
    Channels ``0`` to ``C / groups - 1`` are the first group. ``y = (x - mean) / sqrt(var + eps) *
    gamma + beta`` with the biased variance.

    Methods:
        ``forward(x, gamma, beta, groups, eps) -> (y, mean, inv_std)``: ``y`` in the dtype of ``x``;
        ``mean`` and ``inv_std = 1 / sqrt(var + eps)`` of shape ``(N, groups)``, in the dtype
        computed in.

        ``backward(x, gamma, gy, mean, inv_std) -> (gx, ggamma, gbeta)``, in the dtypes of ``x`` and
        ``gamma``.

    Computed in the dtype to which ``x`` and ``gamma`` are promoted, 16-bit types in float32.
    Methods change none of their arguments.
    """

    name = "group_normalization"
    reference = "chainer.backends.numpy.kernels.group_normalizations:GroupNormalizationKernel"


class DecorrelatedBatchNormalization(Operation):
    """Whitening of groups of channels over a batch, by the symmetric root of the covariance.

    ``select(x, groups=, eps=)``: ``x`` of shape ``(N, C, ...)``; ``groups`` divides ``C``. With
    ``K = C / groups`` and ``m`` elements of each channel, ``x`` of a group is a matrix ``(K, m)``.
    ``y = P (x - mean)``, where ``P`` is the inverse of the symmetric square root of the covariance
    matrix plus ``eps`` times the unit matrix.

    Methods:
        ``forward(x, groups, eps) -> (y, mean, projection, residual)``: ``mean`` of shape ``(groups,
        K)``, ``projection``, ``P``, of shape ``(groups, K, K)``.

        ``backward(gy, residual) -> gx``.

    16-bit types are computed in float32. Methods change none of their arguments.
    """

    name = "decorrelated_batch_normalization"
    reference = (
        "chainer.backends.numpy.kernels.group_normalizations:DecorrelatedBatchNormalizationKernel"
    )


group_normalization = GroupNormalization()
decorrelated_batch_normalization = DecorrelatedBatchNormalization()
