"""Cases of the function table: array manipulation."""

from __future__ import annotations

import numpy as np
from bench_chainer import integers, operation, random

X = random(64, 256)
IMAGES = random(32, 64, 14, 14)
FEW_IMAGES = random(8, 16, 28, 28)
SEQUENCES = [random(30 - n, 64, seed=n) for n in range(16)]
ROWS = integers(64, 200)
THETA = np.tile(np.array([[0.9, 0.1, 0.05], [-0.1, 0.9, 0.02]], np.float32), (8, 1, 1))
GRID = np.clip(random(8, 2, 28, 28, seed=1) * 0.5, -1, 1)

ARRAY = {
    "as_strided": operation("as_strided", X, (62, 254, 3), (256, 1, 1)),
    "broadcast_to": operation("broadcast_to", random(1, 256), (64, 256)),
    "diagonal": operation("diagonal", X),
    "moveaxis": operation("moveaxis", random(16, 16, 64), 0, -1),
    "concat": operation("concat", [X, random(64, 128, seed=1), random(64, 64, seed=2)]),
    "stack": operation("stack", [X, random(64, 256, seed=1), random(64, 256, seed=2)]),
    "split_axis": operation("split_axis", X, 4, 1),
    "separate": operation("separate", random(20, 64, 64)),
    "get_item slice": operation("get_item", X, (slice(None), slice(10, 200))),
    "get_item step": operation("get_item", X, (slice(None, None, 2), slice(None, None, -1))),
    "get_item advanced": operation("get_item", X, (ROWS,)),
    "scatter_add": operation("scatter_add", X, (ROWS,), random(200, 256, seed=1)),
    "select_item": operation("select_item", X, integers(256, 64)),
    "reshape": operation("reshape", X, (32, 512)),
    "transpose": operation("transpose", IMAGES, (0, 2, 3, 1)),
    "swapaxes": operation("swapaxes", IMAGES, 1, 3),
    "tile": operation("tile", X, (2, 3)),
    "repeat": operation("repeat", X, 3, 1),
    "flip": operation("flip", X, 1),
    "pad": operation("pad", IMAGES, ((0, 0), (0, 0), (1, 1), (1, 1)), "constant"),
    "pad_sequence": operation("pad_sequence", SEQUENCES),
    "transpose_sequence": operation("transpose_sequence", SEQUENCES),
    "permutate": operation(
        "permutate", X, np.random.RandomState(0).permutation(64).astype(np.int32)
    ),
    "where": operation("where", random(64, 256, seed=2) > 0, X, random(64, 256, seed=1)),
    "cast": operation("cast", X, np.float64),
    "im2col": operation("im2col", FEW_IMAGES, 3, 1, 1),
    "depth2space": operation("depth2space", IMAGES, 2),
    "space2depth": operation("space2depth", IMAGES, 2),
    "resize_images corners": operation(
        "resize_images", FEW_IMAGES, (40, 40), align_corners=False
    ),
    "resize_images nearest": operation("resize_images", FEW_IMAGES, (40, 40), mode="nearest"),
    "resize_images": operation("resize_images", FEW_IMAGES, (40, 40)),
    "spatial_transformer_grid": operation("spatial_transformer_grid", THETA, (28, 28)),
    "spatial_transformer_sampler": operation("spatial_transformer_sampler", FEW_IMAGES, GRID),
}
