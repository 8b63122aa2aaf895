"""The CUDA kernels, compiled by a C++ compiler, compute what the reference kernels compute."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from chainer.backends.cupy.kernels import _BY_OPERATION, _DETERMINISTIC
from chainer.core.backend import get_backend
from chainer.core.kernel import get_operation
from tests.backends.cupy import emulator
from tests.backends.cupy.samples import SAMPLES

TOLERANCE = {"e": 4e-3, "f": 3e-5, "d": 1e-10}
CASES = [(name, dtype) for name, entry in SAMPLES.items() for dtype in entry[3]]


class Maker:
    """Makes arrays; ``host`` gives them back as NumPy arrays."""

    def __init__(self, dtype):
        self._dtype = dtype

    def __call__(self, values, dtype=None):
        return np.asarray(values).astype(dtype or self._dtype)

    def host(self, array):
        return array


def make_kernel(operation, backend, table=_BY_OPERATION):
    module, _, name = table[operation][0].partition(":")
    return getattr(importlib.import_module(f"chainer.backends.cupy.kernels.{module}"), name)(
        backend
    )


def run(function, kernel, dtype, values):
    np.random.seed(0)
    return list(function(kernel, Maker(dtype), dtype, *values))


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_same_as_the_reference(emulated, name, dtype):
    operation, function, values, _ = SAMPLES[name]
    reference = get_operation(operation).reference_for(get_backend("numpy"))
    expected = run(function, reference, dtype, values)
    actual = run(function, make_kernel(operation, emulated), dtype, values)
    assert len(actual) == len(expected)
    tolerance = TOLERANCE[dtype]
    for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
        assert one.shape == other.shape, i
        assert one.dtype == other.dtype or one.dtype.kind == other.dtype.kind == "i", i
        np.testing.assert_allclose(one, other, tolerance, tolerance, err_msg=f"result {i}")


@pytest.mark.parametrize(
    ("name", "dtype"), [(n, d) for n, d in CASES if SAMPLES[n][0] in _DETERMINISTIC]
)
def test_deterministic_kernels(emulated, name, dtype):
    operation, function, values, _ = SAMPLES[name]
    reference = get_operation(operation).reference_for(get_backend("numpy"))
    expected = run(function, reference, dtype, values)
    actual = run(function, make_kernel(operation, emulated, _DETERMINISTIC), dtype, values)
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == other.dtype or one.dtype.kind == other.dtype.kind == "i"
        np.testing.assert_allclose(one, other, TOLERANCE[dtype], TOLERANCE[dtype])


def many_embeddings(kernel):
    x = np.random.randint(0, 3, (400,)).astype("i")
    return [kernel.backward(x, np.random.standard_normal((400, 2)).astype("f"), (3, 2), None)]


def many_regions(kernel):
    x = np.random.standard_normal((1, 2, 4, 4)).astype("f")
    rois = np.tile(np.array([[0, 0, 0, 3, 3]], "f"), (60, 1))
    y, indices = kernel.forward(x, rois, (2, 2), 1.0)
    return [
        kernel.backward(np.random.standard_normal(y.shape).astype("f"), indices, rois, (4, 4), 1)
    ]


def many_points(kernel):
    x, grid = np.random.standard_normal((1, 2, 3, 3)), np.random.uniform(-1.2, 1.2, (1, 2, 300))
    gy = np.random.standard_normal((1, 2, 300))
    arrays = [array.astype("f") for array in (x, grid, gy)]
    return kernel.backward(*arrays)


def many_labels(kernel):
    x, t = np.random.standard_normal((30, 2, 3)).astype("f"), np.ones((2, 10), "i")
    lengths = np.array([30, 28]), np.array([10, 9])
    losses, saved = kernel.forward(x, t, 0, *lengths)
    return [losses, kernel.backward(x, t, 0, *lengths, saved, losses)]


#: Operation -> function that makes gradients of many summands, and whether they are made by atomic
#: additions where nobody asks for deterministic ones.
SUMS = {
    "embedding": (many_embeddings, True),
    "roi_pooling_2d": (many_regions, True),
    "spatial_transformer_sampler": (many_points, True),
    "connectionist_temporal_classification": (many_labels, False),
}


@pytest.mark.parametrize("operation", SUMS)
def test_order_of_threads(emulated, operation, monkeypatch):
    function, atomic = SUMS[operation]

    def same(table):
        results = []
        for backwards in (False, True):
            monkeypatch.setattr(emulator.Kernel, "reversed", backwards)
            np.random.seed(0)
            results.append(function(make_kernel(operation, emulated, table)))
        return all(np.array_equal(a, b) for a, b in zip(*results, strict=True))

    assert same(_DETERMINISTIC if atomic else _BY_OPERATION)
    assert same(_BY_OPERATION) is not atomic


def test_every_kernel_has_a_sample():
    named = {entry[0] for entry in SAMPLES.values()}
    assert set(_BY_OPERATION) - named == {"dropout"}


@pytest.mark.parametrize(
    ("t", "steps", "length"), [(5, 3, 2), (-1, 3, 2), (1, 4, 2), (1, -1, 2), (1, 3, 9)]
)
def test_values_out_of_range_are_not_read(emulated, t, steps, length):
    """Nobody looks at values on a device; a kernel must not leave its arrays for them."""
    kernel = make_kernel("connectionist_temporal_classification", emulated)
    x = np.zeros((3, 1, 5), "f")
    labels = np.array([[1, t]], "i")
    lengths = np.array([steps], "i"), np.array([length], "i")
    losses, saved = kernel.forward(x, labels, 0, *lengths)
    assert np.isnan(losses).all()
    gx = kernel.backward(x, labels, 0, *lengths, saved, np.ones(1, "f"))
    assert not gx.any()


def test_labels_out_of_range_are_not_read(emulated):
    kernel = make_kernel("softmax_cross_entropy", emulated)
    x, t = np.zeros((3, 4), "f"), np.array([4, -5, 1], "i")
    losses, _ = kernel.forward(x, t, None, -1, True)
    assert np.isnan(losses).tolist() == [True, True, False]
    kernel = make_kernel("embedding", emulated)
    y = kernel.forward(np.array([4, -5, 1], "i"), x[:, :2].repeat(2, 0)[:4], None)
    assert np.isnan(y).any(axis=1).tolist() == [True, True, False]
    gW = kernel.backward(np.array([4, -5, 1], "i"), np.ones((3, 2), "f"), (4, 2), None)
    np.testing.assert_array_equal(gW, [[0, 0], [1, 1], [0, 0], [0, 0]])
