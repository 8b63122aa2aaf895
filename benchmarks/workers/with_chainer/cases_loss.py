"""Cases of the function table: losses and evaluation."""

from __future__ import annotations

import numpy as np
from bench_chainer import Constant, integers, operation, random

X = random(64, 256)
OTHER = random(64, 256, seed=1)
LABELS = integers(256, 64)
SOFT_LABELS = Constant(np.full((64, 256), 1 / 256, np.float32))
SIGNS = integers(2, 64, 256)
EMBEDDED = [random(64, 64, seed=n) for n in range(3)]
FRAMES = [random(16, 40, seed=n) for n in range(30)]
TAGS = [integers(20, 16 - n // 4, seed=n) for n in range(30)]
TAG_SCORES = [random(len(tags), 20, seed=n) for n, tags in enumerate(TAGS)]


# Small, or upstream computes infinite losses.
SMALL = random(1000, 64) * np.float32(0.1)
# Drawn beforehand: making a RandomState takes 5 us in NumPy 1.16, 140 us in NumPy 2.
DRAWN = integers(1000, 64, 6)


def _sampler(shape):
    return DRAWN.reshape(shape)


LOSS = {
    "softmax_cross_entropy": operation("softmax_cross_entropy", X, LABELS),
    "softmax_cross_entropy large": operation(
        "softmax_cross_entropy", random(700, 2000), integers(2000, 700)
    ),
    "softmax_cross_entropy images": operation(
        "softmax_cross_entropy", random(8, 21, 32, 32), integers(21, 8, 32, 32)
    ),
    "softmax_cross_entropy soft": operation("softmax_cross_entropy", X, SOFT_LABELS),
    "sigmoid_cross_entropy": operation("sigmoid_cross_entropy", X, SIGNS),
    "mean_squared_error": operation("mean_squared_error", X, OTHER),
    "mean_absolute_error": operation("mean_absolute_error", X, OTHER),
    "squared_error": operation("squared_error", X, OTHER),
    "huber_loss": operation("huber_loss", X, OTHER, 1.0),
    "hinge": operation("hinge", X, LABELS),
    "triplet": operation("triplet", *EMBEDDED),
    "contrastive": operation("contrastive", EMBEDDED[0], EMBEDDED[1], integers(2, 64)),
    "gaussian_kl_divergence": operation("gaussian_kl_divergence", X, OTHER),
    "bernoulli_nll": operation("bernoulli_nll", (X > 0).astype(np.float32), OTHER),
    "gaussian_nll": operation("gaussian_nll", X, OTHER, random(64, 256, seed=2)),
    "cross_covariance": operation("cross_covariance", EMBEDDED[0], EMBEDDED[1]),
    "decov": operation("decov", X),
    "negative_sampling": operation(
        "negative_sampling", EMBEDDED[0], integers(1000, 64), random(1000, 64), _sampler, 5
    ),
    "black_out": operation(
        "black_out", EMBEDDED[0], integers(1000, 64), SMALL, integers(1000, 64, 5, seed=1)
    ),
    "connectionist_temporal_classification": operation(
        "connectionist_temporal_classification", FRAMES, integers(39, 16, 8) + 1, 0
    ),
    "discriminative loss": operation(
        "discriminative_margin_based_clustering_loss",
        random(4, 4, 32, 32),
        integers(5, 4, 32, 32),
        0.5,
        1.5,
        4,
    ),
    "crf1d": operation("crf1d", random(20, 20), TAG_SCORES, TAGS),
    "accuracy": operation("accuracy", X, LABELS, gradient=False),
}
