"""Cases of the function table: normalization and spatial pooling."""

from __future__ import annotations

import numpy as np
from bench_chainer import Constant, operation, random

X = random(64, 256)
IMAGES = random(32, 64, 14, 14)
ONES = np.ones(256, np.float32)
ZEROS = np.zeros(256, np.float32)
INDEXES = np.random.RandomState(0).randint(0, 4, (32, 64, 7, 7)).astype(np.int32)
ROIS = np.array([[n % 4, n % 3, n % 5, 8 + n % 4, 7 + n % 6] for n in range(32)], np.float32)
# The same regions for functions that take (y_min, x_min, y_max, x_max) and the images apart.
REGIONS = ROIS[:, [2, 1, 4, 3]].copy()
REGION_IMAGES = ROIS[:, 0].astype(np.int32)


def regions(name, *arguments):
    """Pooling of 32 regions of 4 images."""
    images = random(4, 64, 14, 14)
    return operation(name, images, Constant(REGIONS), REGION_IMAGES, 7, 1.0, *arguments)


NORMALIZATION = {
    "batch_normalization": operation("batch_normalization", X, ONES, ZEROS),
    "batch_normalization images": operation(
        "batch_normalization", IMAGES, ONES[:64].copy(), ZEROS[:64].copy()
    ),
    "fixed_batch_normalization": operation(
        "fixed_batch_normalization", X, ONES, ZEROS, Constant(ZEROS), Constant(ONES)
    ),
    "batch_renormalization": operation(
        "batch_renormalization",
        X,
        ONES,
        ZEROS,
        2.0,
        1.0,
        running_mean=ZEROS.copy(),
        running_var=ONES.copy(),
    ),
    "group_normalization": operation(
        "group_normalization", IMAGES, 8, ONES[:64].copy(), ZEROS[:64].copy()
    ),
    # Its gradient is defined up to the rounding of eigenvalues, so that peers differ.
    "decorrelated_batch_normalization": operation(
        "decorrelated_batch_normalization", IMAGES, groups=16, check=False
    ),
    "fixed_decorrelated_batch_normalization": operation(
        "fixed_decorrelated_batch_normalization",
        IMAGES,
        Constant(ZEROS[:64].reshape(16, 4).copy()),
        Constant(np.stack([np.eye(4, dtype=np.float32)] * 16)),
        16,
    ),
    "layer_normalization": operation("layer_normalization", X, ONES, ZEROS),
    "local_response_normalization": operation("local_response_normalization", IMAGES),
    "max_pooling_2d": operation("max_pooling_2d", IMAGES, 2),
    "max_pooling_2d overlapping": operation("max_pooling_2d", IMAGES, 3, 2),
    "average_pooling_2d": operation("average_pooling_2d", IMAGES, 2),
    "average_pooling_2d global": operation("average_pooling_2d", IMAGES, 14),
    "max_pooling_nd 3d": operation("max_pooling_nd", random(4, 8, 12, 12, 12), 2),
    "average_pooling_nd 3d": operation("average_pooling_nd", random(4, 8, 12, 12, 12), 2),
    "max_pooling_1d": operation("max_pooling_1d", random(32, 64, 128), 3, 2),
    "max_pooling_3d": operation("max_pooling_3d", random(4, 8, 12, 12, 12), 2),
    "average_pooling_1d": operation("average_pooling_1d", random(32, 64, 128), 2),
    "average_pooling_3d": operation("average_pooling_3d", random(4, 8, 12, 12, 12), 2),
    "unpooling_1d": operation("unpooling_1d", random(32, 64, 64), 2, cover_all=False),
    "unpooling_3d": operation("unpooling_3d", random(4, 8, 6, 6, 6), 2, cover_all=False),
    "roi_pooling_2d": operation("roi_pooling_2d", random(4, 64, 14, 14), Constant(ROIS), 7, 7, 1.0),
    "roi_average_pooling_2d": regions("roi_average_pooling_2d"),
    "roi_max_pooling_2d": regions("roi_max_pooling_2d"),
    "roi_average_align_2d": regions("roi_average_align_2d", 2),
    "roi_max_align_2d": regions("roi_max_align_2d", 2),
    "spatial_pyramid_pooling_2d": operation("spatial_pyramid_pooling_2d", IMAGES, 3, pooling="max"),
    "unpooling_2d": operation("unpooling_2d", IMAGES, 2, cover_all=False),
    "upsampling_2d": operation("upsampling_2d", random(32, 64, 7, 7), INDEXES, 2, outsize=(14, 14)),
}
