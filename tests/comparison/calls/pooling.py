"""Calls of poolings."""

from __future__ import annotations

import numpy as np


def _image(draw, dims):
    batch = 0 if draw.maybe(0.02) else draw.integer(1, 2)
    return draw.floats((batch, draw.integer(1, 2), *[draw.integer(3, 5) for _ in range(dims)]))


def _window(draw, dims):
    options = {}
    if draw.maybe(0.5):
        options["stride"] = draw.choice(1, 2, (2,) * dims)
    if draw.maybe(0.4):
        options["pad"] = draw.choice(1, (1,) * dims)
    return draw.choice(2, 3, (2,) * dims, (3,) * dims), options


def maximum(dims):
    def generate(draw):
        ksize, options = _window(draw, dims)
        if draw.maybe(0.4):
            options["cover_all"] = draw.maybe(0.5)
        if draw.maybe(0.3):
            options["return_indices"] = True
        return [_image(draw, dims), ksize], options

    return generate


def average(dims, pad_value=True):
    def generate(draw):
        ksize, options = _window(draw, dims)
        if pad_value and draw.maybe(0.5):
            options["pad_value"] = draw.choice(None, None, 0, 1)
        return [_image(draw, dims), ksize], options

    return generate


def unpooling(dims):
    def generate(draw):
        ksize, options = _window(draw, dims)
        if draw.maybe(0.5):
            options["cover_all"] = draw.maybe(0.5)
        return [_image(draw, dims), ksize], options

    return generate


def upsampling(draw):
    n, c = draw.integer(1, 2), draw.integer(1, 2)
    return [
        draw.floats(n, c, 2, 3),
        draw.integers(n, c, 2, 3, high=3),
        2,
    ], draw.choice({}, {"stride": 2}, {"cover_all": False})


def _boxes(draw, count, dtype):
    corners = draw.random.uniform(-1, 4, (count, 2))
    sizes = draw.random.uniform(0, 4, (count, 2))
    return np.round(np.concatenate([corners, corners + sizes], axis=1), 2).astype(dtype)


def regions(align=False):
    def generate(draw):
        dtype = "f" if align else draw.choice("f", "d", "e")
        n, count = draw.integer(1, 2), draw.size(1, 3)
        x = draw.floats(n, draw.integer(1, 2), 4, 5, dtype=dtype)
        rois = draw.floats(count, 4, variable=False)
        rois.array = _boxes(draw, count, dtype)
        outsize = draw.choice(2, (1, 2), (2, 3), (0, 1), 1.5, -1)
        scale = draw.choice(1.0, 0.5, 1, 0)
        args = [x, rois, draw.integers(count, high=n - 1), outsize, scale]
        if align:
            args += draw.choice([], [None], [2], [(1, 2)], [0], [(1, None)])
        return args, {}

    return generate


def roi_pooling(draw):
    dtype = draw.choice("f", "d", "e")
    n, count = draw.integer(1, 2), draw.size(1, 3)
    x = draw.floats(n, draw.integer(1, 2), 4, 5, dtype=dtype)
    rois = draw.floats(count, 5, variable=False)
    indexes = draw.random.randint(0, n, (count, 1))
    rois.array = np.concatenate([indexes, np.abs(_boxes(draw, count, "d"))], axis=1).astype(dtype)
    return [x, rois, draw.integer(1, 2), draw.integer(1, 2), draw.choice(1.0, 0.5)], {}


def pyramid(draw):
    x = draw.floats(draw.integer(1, 2), 2, draw.integer(4, 6), draw.integer(4, 6))
    return [x, draw.integer(1, 3)], {"pooling": draw.choice("max", "max", "average")}


GENERATORS = {
    "average_pooling_1d": average(1),
    "average_pooling_2d": average(2, pad_value=False),
    "average_pooling_3d": average(3),
    "average_pooling_nd": average(2),
    "max_pooling_1d": maximum(1),
    "max_pooling_2d": maximum(2),
    "max_pooling_3d": maximum(3),
    "max_pooling_nd": maximum(2),
    "roi_average_align_2d": regions(align=True),
    "roi_average_pooling_2d": regions(),
    "roi_max_align_2d": regions(align=True),
    "roi_max_pooling_2d": regions(),
    "roi_pooling_2d": roi_pooling,
    "spatial_pyramid_pooling_2d": pyramid,
    "unpooling_1d": unpooling(1),
    "unpooling_2d": unpooling(2),
    "unpooling_3d": unpooling(3),
    "unpooling_nd": unpooling(2),
    "upsampling_2d": upsampling,
}
