"""Gradients that are the same to the last bit each time, with ``cudnn_deterministic``."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from tests.gpu import place

ROWS = np.random.RandomState(0).randint(0, 4, 3000)
COLUMNS = np.random.RandomState(1).randint(0, 3, 3000)
REGIONS = np.array([[i % 2, 0, 0, 5, 6] for i in range(200)], np.float32)

#: Function, inputs that are differentiated, and others: shapes and arrays.
FUNCTIONS = {
    "embed_id": (lambda W, x: F.embed_id(x, W), [(4, 5)], [ROWS]),
    "get_item of rows": (lambda x, rows: x[rows], [(4, 5)], [ROWS]),
    "get_item of elements": (lambda x, *i: x[i], [(4, 3)], [ROWS, COLUMNS]),
    "scatter_add": (
        lambda a, b, rows: F.scatter_add(a, rows, b) ** 2,
        [(4, 5), (3000, 5)],
        [ROWS],
    ),
    "roi_pooling_2d": (
        lambda x, rois: F.roi_pooling_2d(x, rois, 2, 3, 1.0),
        [(2, 3, 7, 6)],
        [REGIONS],
    ),
    "roi_max_pooling_2d": (
        lambda x, *regions: F.roi_max_pooling_2d(x, *regions, (2, 3), 1.0),
        [(2, 3, 7, 6)],
        [REGIONS[:, 1:], REGIONS[:, 0].astype(np.int32)],
    ),
    "roi_average_align_2d": (
        lambda x, *regions: F.roi_average_align_2d(x, *regions, (2, 3), 1.0, 2),
        [(2, 3, 7, 6)],
        [REGIONS[:, 1:], REGIONS[:, 0].astype(np.int32)],
    ),
    "spatial_transformer_sampler": (
        F.spatial_transformer_sampler,
        [(2, 3, 5, 4), (2, 2, 40, 30)],
        [],
    ),
}


def gradients(name, device, dtype):
    function, shapes, others = FUNCTIONS[name]
    random = np.random.RandomState(2)
    variables = [
        chainer.Variable(device.send(random.uniform(-0.9, 0.9, shape).astype(dtype)))
        for shape in shapes
    ]
    rest = [device.send(a.astype(dtype) if a.dtype.kind == "f" else a) for a in others]
    with chainer.using_config("cudnn_deterministic", True):
        y = function(*variables, *rest)
        y.grad = device.send(random.standard_normal(y.shape).astype(dtype))
        y.backward()
    return [place.to_host(a) for a in (y.array, *[v.grad for v in variables])]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_each_time(name, dtype, device):
    first = gradients(name, device, dtype)
    for _ in range(3):
        for one, other in zip(gradients(name, device, dtype), first, strict=True):
            np.testing.assert_array_equal(one, other)
    tolerance = 2e-2 if dtype == "float16" else 1e-4
    for one, other in zip(first, gradients(name, place.HOST, "float64"), strict=True):
        np.testing.assert_allclose(one, other, tolerance, tolerance * abs(other).max())
