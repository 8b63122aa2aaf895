"""Negative sampling loss layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.misuse import expect_number
from chainer.core.typing import Array, DTypeLike, VariableLike
from chainer.core.utils.walker_alias import WalkerAlias
from chainer.functions.loss import negative_sampling
from chainer.links.initializers import Zero
from chainer.links.loss._sampled import SampledLoss


class NegativeSampling(SampledLoss):
    """Negative sampling loss layer.

    Wraps :func:`chainer.functions.negative_sampling`. It holds the weight matrix as a parameter and
    a sampler built from the word counts.

    See `Distributed Representations of Words and Phrases and their Compositionality
    <https://arxiv.org/abs/1310.4546>`_.

    Args:
        in_size (int): Size of input vectors.
        counts (list of int): Number of occurrences of each identifier.
        sample_size (int): Number of negative samples.
        power (float): Power to which the counts are raised to give probabilities.
        dtype (numpy.dtype): Data type of the weight; ``chainer.config.dtype`` by default.

    Attributes:
        W (Parameter): Weight of shape ``(len(counts), in_size)``, zero at first.
        sampler (WalkerAlias): Sampler of identifiers.

    Example:
        >>> l = L.NegativeSampling(3, counts=[5, 2, 1, 1], sample_size=2)
        >>> l(np.zeros((2, 3), np.float32), np.array([0, 3], np.int32)).shape
        ()
    """

    # Links restored from pickles of older releases lack the attribute.
    power: float | None = None

    def __init__(
        self,
        in_size: int,
        counts: Sequence[int],
        sample_size: int,
        power: float = 0.75,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        expect_number("sample_size of NegativeSampling", sample_size, at_least=1)
        self.sample_size = sample_size
        self.power = power
        # Frequent identifiers are drawn less often than they occur if power is below one.
        self.sampler = WalkerAlias(numpy.power(numpy.asarray(counts, numpy.float32), power))
        with self.init_scope():
            self.W = Parameter(Zero(dtype), (len(counts), in_size))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_size", self.W.shape[1]
        yield "n_ids", self.W.shape[0]
        yield "sample_size", self.sample_size
        yield "power", self.power

    def forward(
        self,
        x: VariableLike,
        t: VariableLike,
        reduce: str = "sum",
        *,
        return_samples: bool = False,
    ) -> Variable | tuple[Variable, Array]:
        """Computes the loss value for given input and ground truth labels.

        Args:
            x (Variable or array): Input vectors of shape ``(B, in_size)``.
            t (Variable or array): Ground truth labels, int32 of shape ``(B,)``; -1 is ignored.
            reduce (str): ``'sum'``: the sum of the losses. ``'no'``: the loss of each input.
            return_samples (bool): If True, the samples are returned, too.

        Returns:
            Variable: Loss value; with ``return_samples`` a pair of it and the samples.
        """
        return negative_sampling.negative_sampling(
            x,
            t,
            self.W,
            self.sampler.sample,
            self.sample_size,
            reduce=reduce,
            return_samples=return_samples,
        )
