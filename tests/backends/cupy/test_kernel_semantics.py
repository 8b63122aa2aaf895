"""The CUDA kernels, compiled by a C++ compiler, compute what the reference kernels compute."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from chainer.backends.cupy.kernels import _BY_OPERATION
from chainer.core.backend import get_backend
from chainer.core.kernel import get_operation
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


def make_kernel(operation, backend):
    module, _, name = _BY_OPERATION[operation][0].partition(":")
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


def test_every_kernel_has_a_sample():
    named = {entry[0] for entry in SAMPLES.values()}
    assert set(_BY_OPERATION) - named == {"dropout"}
