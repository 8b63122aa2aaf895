"""Losses of sequences, and decoding."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class ConnectionistTemporalClassification(Operation):
    """Connectionist temporal classification: the sum over all alignments of a label sequence.

    ``select(x, t)``: ``x`` unnormalized log probabilities of shape ``(T, B, V)``, floating point;
    ``t`` labels of shape ``(B, M)``, integer.

    Methods:
        ``forward(x, t, blank, input_length, label_length) -> (losses, saved)``: ``input_length``
        and ``label_length`` are integer arrays of shape ``(B,)``, in range; labels beyond
        ``label_length`` are arbitrary. ``losses`` has shape ``(B,)`` and the dtype of ``x``: the
        negative log likelihood, finite for ``x`` of any size, and 1e10 (or the largest number of
        the dtype) where no alignment exists.

        ``backward(x, t, blank, input_length, label_length, saved, scale) -> gx``: gradient of
        ``sum(scale * losses)``, ``scale`` of shape ``(B,)``; zero beyond ``input_length`` and where
        no alignment exists. ``saved`` must not be changed.
    """

    name = "connectionist_temporal_classification"
    reference = (
        "chainer.backends.numpy.kernels.sequence_losses:ConnectionistTemporalClassificationKernel"
    )


class LinearChainCRF(Operation):
    """Linear-chain conditional random field over transposed sequences.

    ``select(cost, *xs)``: ``cost`` of shape ``(K, K)``, from label (axis 0) to label (axis 1);
    ``xs`` the costs of the labels step by step, ``xs[i]`` of shape ``(B_i, K)`` with ``B_i`` not
    increasing; one floating-point dtype.

    Methods:
        ``forward(cost, xs) -> (log_z, saved)``: logarithm of the partition function, shape
        ``(B_0,)``, finite for costs of any size; float32 for float16 inputs, and a new array.

        ``backward(cost, xs, saved, scale) -> (gcost, gxs)``: gradients of ``sum(scale * log_z)``,
        ``scale`` of shape ``(B_0,)``. ``saved`` must not be changed.

        ``decode(cost, xs) -> path``: list of int32 arrays of shapes ``(B_i,)``, the labels with
        the highest total cost; of equal paths the first.
    """

    name = "linear_chain_crf"
    methods = ("forward", "backward", "decode")
    reference = "chainer.backends.numpy.kernels.sequence_losses:LinearChainCRFKernel"


connectionist_temporal_classification = ConnectionistTemporalClassification()
linear_chain_crf = LinearChainCRF()
