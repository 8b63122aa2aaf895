"""Discriminative loss."""

# pyright: basic
from __future__ import annotations

import itertools

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _length(x, norm, axis):
    return (np.abs(x) ** norm).sum(axis=axis) ** (1 / norm)


def _loss(e, labels, delta_v, delta_d, max_embedding_dim, norm=1, alpha=1.0, beta=1.0, gamma=1e-3):
    batch, dim = e.shape[:2]
    clusters = range(max_embedding_dim)
    masks = [(labels == c + 1).astype(float) for c in clusters]
    means, variance = [], 0.0
    for mask in masks:
        mean = (e * mask[:, None]).sum(axis=(2, 3))
        means.append(mean / np.maximum(mask.sum(axis=(1, 2)), 1)[:, None])
        difference = (means[-1][:, :, None, None] - e) * mask[:, None]
        excess = np.maximum(_length(difference, norm, 1) - delta_v, 0) ** 2
        variance += excess.sum() / max(mask.sum(), 1) / dim
    pairs = list(itertools.combinations(means, 2))
    gaps = [np.maximum(2 * delta_d - _length(a - b, norm, 1), 0) ** 2 for a, b in pairs]
    distance = np.sum(gaps) / max(batch * len(pairs), 1)
    regularization = sum(_length(mean, norm, None) for mean in means) / (dim * max(batch, 1))
    return alpha * variance, beta * distance, gamma * regularization


def _samples(draw):
    labels = np.array([[[0, 1, 1], [2, 2, 3]], [[3, 3, 0], [1, 1, 2]]], np.int32)
    e = draw((2, 3, 2, 3), -2, 2)
    options = {"delta_v": 0.2, "delta_d": 2.0, "max_embedding_dim": 3, "gamma": 1.0}
    yield Sample(e, labels=labels, **options)
    yield Sample(e, labels=labels, norm=2, alpha=2.0, beta=3.0, **options)
    # All pixels count, those outside of a cluster with the distance 0.
    yield Sample(e, labels=labels, **{**options, "delta_v": -0.5})
    yield Sample(draw((0, 3, 2, 3)), labels=labels[:0], **options, kind="empty")


def _errors(draw):
    e, labels = np.ones((2, 3, 2, 2), np.float32), np.ones((2, 2, 2), np.int32)
    options = {"delta_v": 0.5, "delta_d": 1.5, "max_embedding_dim": 3, "labels": labels}
    for wrong, match in (
        ({"norm": 3}, "norm can only be 1 or 2. Obtained the value : 3"),
        ({"max_embedding_dim": 0}, "Max number of embeddings has to be positive"),
        ({"max_embedding_dim": 4}, r"embeddings must have shape \(batch, 4, height, width\)"),
        ({"labels": labels[:1]}, r"labels must have shape \(2, 2, 2\), got \(1, 2, 2\)"),
    ):
        yield invalid_value(match, e, **{**options, **wrong})
    yield invalid_type("dtype", e.astype(int), **options)
    yield ErrorInput(
        e,
        **{**options, "labels": [[1]]},
        error=TypeError,
        match="labels must be an array, got list",
    )


SPECS = (
    OpSpec(
        "discriminative_margin_based_clustering_loss",
        reference=_loss,
        samples=_samples,
        errors=_errors,
    ),
)
