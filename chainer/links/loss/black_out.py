"""BlackOut loss layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, VariableLike
from chainer.core.utils.walker_alias import WalkerAlias
from chainer.functions.loss import black_out
from chainer.links.loss._sampled import SampledLoss


class BlackOut(SampledLoss):
    """BlackOut loss layer.

    Wraps :func:`chainer.functions.black_out`. It holds the weight matrix as a parameter and a
    sampler built from the word counts.

    See `BlackOut: Speeding up Recurrent Neural Network Language Models With Very Large Vocabularies
    <https://arxiv.org/abs/1511.06909>`_.

    Args:
        in_size (int): Size of input vectors.
        counts (list of int): Number of occurrences of each identifier.
        sample_size (int): Number of negative samples.

    Attributes:
        W (Parameter): Weight of shape ``(len(counts), in_size)``, zero at first.
        sample_data (array): Negative samples of shape ``(B, sample_size)`` to be used in place of
            random ones, for debugging; None by default.
        sampler (WalkerAlias): Sampler of identifiers.

    Example:
        >>> l = L.BlackOut(3, counts=[5, 2, 1, 1], sample_size=2)
        >>> l(np.zeros((2, 3), np.float32), np.array([0, 3], np.int32)).shape
        ()
    """

    sample_data: Array | None = None

    def __init__(self, in_size: int, counts: Sequence[int], sample_size: int) -> None:
        super().__init__()
        self.sample_size = sample_size
        self.sampler = WalkerAlias(numpy.asarray(counts, numpy.float32))
        with self.init_scope():
            self.W = Parameter(0, (len(counts), in_size))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_size", self.W.shape[1]
        yield "n_ids", self.W.shape[0]
        yield "sample_size", self.sample_size

    def forward(self, x: VariableLike, t: VariableLike) -> Variable:
        """Computes the loss value for given input and ground truth labels.

        Args:
            x (Variable or array): Input vectors of shape ``(B, in_size)``.
            t (Variable or array): Ground truth labels, integers of shape ``(B,)``.

        Returns:
            Variable: Loss value, the mean over the batch.
        """
        # Tests and programs set the attribute to fix the samples.
        samples = self.sample_data
        if samples is None:
            samples = self.sampler.sample((x.shape[0], self.sample_size))
        return black_out.black_out(x, t, self.W, samples)
