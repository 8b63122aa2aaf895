"""Triplet loss."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.loss._pair import MarginLoss
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, expect_kinds


class Triplet(MarginLoss, ExpressionFunction):
    """Triplet loss: an anchor should be nearer to a positive than to a negative sample."""

    argument_names = ("anchor", "positive", "negative")

    batch_inputs = (0, 1, 2)
    type_check_key = ()
    retained_inputs = (0, 1, 2)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        anchor, positive, negative = expect_kinds(in_types, "fff")
        for other in (positive, negative):
            type_check.expect(anchor.dtype == other.dtype, anchor.shape == other.shape)
        type_check.expect(anchor.ndim == 2)

    def forward(self, inputs: Arrays) -> Arrays:
        loss = self.xp.maximum(self._violation(*inputs), 0)
        if self.reduce == "mean":
            loss = loss.sum() / max(len(inputs[0]), 1)
        return (self.xp.asarray(loss, dtype=inputs[0].dtype),)

    def _violation(self, anchor: Array, positive: Array, negative: Array) -> Any:
        # In place: two arrays of the size of the inputs are enough.
        to_positive = anchor - positive
        to_negative = anchor - negative
        to_positive *= to_positive
        to_negative *= to_negative
        to_positive -= to_negative
        return to_positive.sum(axis=1) + self.margin

    def _violated(self) -> Any:
        """One for each triplet whose loss is not zero, scaled for the mean."""
        arrays = self.retained_input_arrays
        violated = (self._violation(*arrays) > 0).astype(arrays[0].dtype)
        # The derivative of the squares brings a factor of two.
        violated *= 2.0 if self.reduce == "no" else 2.0 / max(len(violated), 1)
        return violated

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        anchor, positive, negative, gy = values
        # Which triplets violate the margin is constant almost everywhere.
        factor = (gy * self._violated()).reshape((-1, 1))
        differences = {
            0: lambda: negative - positive,
            1: lambda: positive - anchor,
            2: lambda: anchor - negative,
        }
        return tuple([differences[i]() * factor for i in targets])


@explained_keywords
def triplet(
    anchor: VariableLike,
    positive: VariableLike,
    negative: VariableLike,
    margin: float = 0.2,
    reduce: str = "mean",
) -> Variable:
    """Computes triplet loss.

    The loss of a triplet is ``max(|anchor - positive|^2 - |anchor - negative|^2 + margin, 0)``. See
    Learning Fine-grained Image Similarity with Deep Ranking (Wang et al.,
    https://arxiv.org/abs/1404.4661).

    Args:
        anchor (Variable or array): Anchors of shape ``(N, K)``, floating point.
        positive (Variable or array): Samples similar to the anchors, of the same shape and dtype.
        negative (Variable or array): Samples dissimilar to the anchors, of the same shape and
            dtype.
        margin (float): By how much the squared distances should differ; positive.
        reduce (str): ``'mean'`` for the mean of the losses, ``'no'`` for the loss of each triplet.

    Returns:
        Variable: A scalar, or losses of shape ``(N,)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``margin`` or ``reduce`` is wrong.

    Example:
        >>> anchor = np.array([[-2.0, 3.0, 0.5], [5.0, 2.0, -0.5]], np.float32)
        >>> pos = np.array([[-2.1, 2.8, 0.5], [4.9, 2.0, -0.4]], np.float32)
        >>> neg = np.array([[-2.1, 2.7, 0.7], [4.9, 2.0, -0.7]], np.float32)
        >>> F.triplet(anchor, pos, neg)
        variable(0.14000003)
    """
    return Triplet(margin, reduce).apply((anchor, positive, negative))[0]
