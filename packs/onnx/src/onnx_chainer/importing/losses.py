"""Losses. ONNX defines them by other operators; here they run in fewer steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import constants
from onnx_chainer.importing.values import Tensor, array_of


@constants(2)
def _negative_log_likelihood(
    attributes: Attributes, x: Tensor, labels: Tensor, weights: Tensor | None = None
) -> Tensor:
    """Takes logarithms of probabilities, classes on the second axis."""
    array, target = array_of(x), array_of(labels)
    xp = get_array_module(array)
    ignored = attributes.get("ignore_index")
    counted = xp.ones(target.shape, bool) if ignored is None else target != ignored
    # An ignored label may be any number, also one that is not an index.
    safe = xp.where(counted, target, 0).astype(numpy.int64)
    factors = counted.astype(array.dtype)
    if weights is not None:
        factors = factors * array_of(weights)[safe]
    rest = [
        xp.arange(n).reshape([-1 if i == axis else 1 for i in range(target.ndim)])
        for axis, n in enumerate(target.shape)
    ]
    picked = F.get_item(x, tuple(xp.broadcast_arrays(rest[0], safe, *rest[1:])))
    losses = -picked * factors
    how = attributes.get("reduction", "mean")
    if how == "none":
        return losses
    total = F.sum(losses)
    return total if how == "sum" else total / factors.sum().astype(array.dtype)


@constants(2)
def _softmax_cross_entropy(
    attributes: Attributes, scores: Tensor, labels: Tensor, weights: Tensor | None = None
) -> tuple[Tensor, ...]:
    log_prob = F.log_softmax(scores, axis=1)
    loss = _negative_log_likelihood(attributes, log_prob, labels, weights)
    return (loss, log_prob)[: max(attributes.outputs, 1)]


OPERATORS: dict[str, Callable[..., Any]] = {
    "NegativeLogLikelihoodLoss": _negative_log_likelihood,
    "SoftmaxCrossEntropyLoss": _softmax_cross_entropy,
}
