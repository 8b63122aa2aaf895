"""Normalization of batches and layers."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation, Recording


class BatchNormalization(Operation):
    """Batch normalization with the statistics of the batch.

    ``x`` is normalized over the axes ``axis``, a sorted tuple. The parameters have the shape of
    the other axes of ``x``, in their order. All have one floating-point dtype, which ``x`` need not
    share. The computation has the wider of the two dtypes, at least float32.

    ``select(x, gamma, beta, axis=, eps=)``.

    Methods:
        ``forward(x, gamma, beta, running, eps, decay, axis) -> (y, mean, inv_std, residual)``.
        ``running`` is None or the pair of the running mean and variance, which change in place:
        ``running *= decay``, ``running += (1 - decay) * statistic``, with the unbiased variance.
        ``mean`` and ``inv_std = 1 / sqrt(var + eps)`` have the shape of the parameters and the
        dtype of the computation. The residual is opaque.

        ``backward(x, gamma, gy, mean, inv_std, residual, axis) -> (gx, ggamma, gbeta)``.

    An empty batch changes no running statistic.
    """

    name = "batch_normalization"
    reference = "chainer.backends.numpy.kernels.normalizations:BatchNormalizationKernel"
    recording = Recording.STEPS


class FixedBatchNormalization(Operation):
    """Batch normalization with given statistics.

    ``select(x, gamma, beta, mean, var, axis=, eps=)``; see :class:`BatchNormalization` for shapes
    and dtypes.

    Methods:
        ``forward(x, gamma, beta, mean, var, eps, axis) -> y``.

        ``backward(x, gamma, mean, var, gy, eps, axis) -> (gx, ggamma, gbeta, gmean, gvar)``.
    """

    name = "fixed_batch_normalization"
    reference = "chainer.backends.numpy.kernels.normalizations:FixedBatchNormalizationKernel"
    recording = Recording.STEPS


class LayerNormalization(Operation):
    """Normalization of each row.

    ``select(x, gamma, beta, eps=)``: ``x`` of shape ``(N, D)``, ``gamma`` and ``beta`` of shape
    ``(D,)``.

    Methods:
        ``forward(x, gamma, beta, eps) -> (y, mean, inv_std, residual)``; ``mean`` and
        ``inv_std = 1 / sqrt(var + eps)`` of shape ``(N,)``. The residual is opaque. A kernel may
        leave all three out (None) while no graph is recorded (``enable_backprop``), because only
        the gradient needs them.

        ``backward(x, gamma, gy, mean, inv_std, residual) -> (gx, ggamma, gbeta)``.

    float16 is computed in float32.
    """

    name = "layer_normalization"
    reference = "chainer.backends.numpy.kernels.normalizations:LayerNormalizationKernel"


batch_normalization = BatchNormalization()
fixed_batch_normalization = FixedBatchNormalization()
layer_normalization = LayerNormalization()


class BatchRenormalization(Operation):
    """Batch renormalization: batch normalization corrected towards given statistics.

    ``y = gamma * ((x - mean) * inv_std * r + d) + beta`` with ``r = clip(std / running_std, 1 /
    rmax, rmax)`` and ``d = clip((mean - running_mean) / running_std, -dmax, dmax)``, where a
    standard deviation is ``sqrt(var + eps)``.

    ``select(x, gamma, beta, axis=, eps=)``; see :class:`BatchNormalization` for shapes and dtypes.

    Methods:
        ``forward(x, gamma, beta, running, eps, limits, axis) -> (y, mean, var, r, d)``:
        ``running`` is the pair of the running mean and variance, ``limits`` the pair ``(rmax,
        dmax)``. The statistics of the batch (``var`` biased, without ``eps``) and the corrections
        have the shape of the parameters.

        ``backward(x, gamma, gy, statistics, eps, axis) -> (gx, ggamma, gbeta)``; ``statistics`` is
        the tuple ``(mean, var, r, d)``. ``r`` and ``d`` count as constants.
    """

    name = "batch_renormalization"
    reference = "chainer.backends.numpy.kernels.normalizations:BatchRenormalizationKernel"


batch_renormalization = BatchRenormalization()
