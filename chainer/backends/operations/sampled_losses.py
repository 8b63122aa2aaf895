"""Losses that compare the correct class with sampled classes."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class NegativeSampling(Operation):
    """Negative sampling loss of scores.

    ``select(scores)``: ``scores`` of shape ``(N, 1 + K)``, float32 or float64: the correct class
    first, then the sampled classes.

    Methods:
        ``forward(scores) -> losses`` of shape ``(N,)``: ``-log sigmoid(scores[:, 0]) - sum_k log
        sigmoid(-scores[:, k])``, finite for scores of any size.

        ``backward(scores) -> slopes``: derivative of each loss with respect to its scores, with
        the shape of ``scores``.
    """

    name = "negative_sampling"
    reference = "chainer.backends.numpy.kernels.sampled_losses:NegativeSamplingKernel"


class BlackOut(Operation):
    """BlackOut loss of scores.

    ``select(scores)``: as for ``negative_sampling``.

    Methods:
        ``forward(scores) -> losses`` of shape ``(N,)``: ``-log p[:, 0] - sum_k log(1 - p[:, k])``
        where ``p`` is the softmax of the scores over axis 1; finite for scores of any size.

        ``backward(scores) -> slopes``: derivative of each loss with respect to its scores, with
        the shape of ``scores``.
    """

    name = "black_out"
    reference = "chainer.backends.numpy.kernels.sampled_losses:BlackOutKernel"


negative_sampling = NegativeSampling()
black_out = BlackOut()
