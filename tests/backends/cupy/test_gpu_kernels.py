"""The CUDA kernels on a GPU: each against the reference kernel on NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
from chainer.backends.cupy.kernels import _BY_OPERATION, _DETERMINISTIC
from chainer.backends.operations.optimizer_updates import SGDScalars
from chainer.core.arrays.backend import get_backend
from chainer.core.arrays.kernel import get_operation
from chainer.testing import attr
from tests.backends.cupy.sample_table import WITHOUT_SAMPLES
from tests.backends.cupy.samples import SAMPLES
from tests.backends.cupy.test_kernel_semantics import (
    SUMS,
    TOLERANCE,
    Maker,
    deterministic_kernel,
    make_kernel,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(attr.gpu_limit() < 1, reason="needs a GPU"),
    # The reference of erf on the host is slow without SciPy, which machines with GPUs may lack.
    pytest.mark.filterwarnings("ignore:SciPy is not available"),
]

CASES = [(name, dtype) for name, entry in SAMPLES.items() for dtype in entry[3]]


class DeviceMaker(Maker):
    """Makes arrays on the GPU.

    Args:
        dtype: Default data type.
        strided: Whether the elements of the arrays do not lie side by side.
    """

    def __init__(self, dtype, strided=False):
        super().__init__(dtype)
        self._strided = strided

    def __call__(self, values, dtype=None):
        array = chainer.get_device("@cupy").send(super().__call__(values, dtype))
        if not (self._strided and array.ndim):
            return array
        xp = get_backend("cupy").xp
        wide = xp.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]

    def host(self, array):
        return chainer.get_device("@numpy").send(array)


def run(function, kernel, maker, dtype, values):
    np.random.seed(0)
    return [maker.host(array) for array in function(kernel, maker, dtype, *values)]


def compare(actual, expected, dtype):
    assert len(actual) == len(expected)
    # Sums in another order, and functions of another library.
    tolerance = 4 * TOLERANCE[dtype]
    for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
        assert one.shape == other.shape, i
        assert one.dtype == other.dtype or one.dtype.kind == other.dtype.kind == "i", i
        np.testing.assert_allclose(one, other, tolerance, tolerance, err_msg=f"result {i}")


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_same_as_the_reference_on_the_host(name, dtype, strided):
    operation, function, values, _ = SAMPLES[name]
    reference = get_operation(operation).reference_for(get_backend("numpy"))
    expected = run(function, reference, Maker(dtype), dtype, values)
    kernel = make_kernel(operation, get_backend("cupy"))
    compare(run(function, kernel, DeviceMaker(dtype, strided), dtype, values), expected, dtype)


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize(
    ("name", "dtype"), [(n, d) for n, d in CASES if SAMPLES[n][0] in _DETERMINISTIC]
)
def test_deterministic_kernels(name, dtype, strided):
    operation, function, values, _ = SAMPLES[name]
    reference = get_operation(operation).reference_for(get_backend("numpy"))
    expected = run(function, reference, Maker(dtype), dtype, values)
    kernel = make_kernel(operation, get_backend("cupy"), _DETERMINISTIC)
    compare(run(function, kernel, DeviceMaker(dtype, strided), dtype, values), expected, dtype)


@pytest.mark.parametrize("operation", SUMS)
def test_deterministic_sums(operation):
    kernel, maker = deterministic_kernel(operation, get_backend("cupy")), DeviceMaker("f")
    results = []
    for _ in range(5):
        np.random.seed(0)
        results.append([maker.host(array) for array in SUMS[operation](kernel, maker)])
    for others in results[1:]:
        for one, other in zip(results[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.endswith("-0")])
def test_reference_on_the_device(name):
    """A backend works by the reference kernels alone, also this one."""
    operation, function, values, _ = SAMPLES[name]
    if operation.startswith("roi_"):
        pytest.skip("the reference reads regions one by one on the host")
    operation = get_operation(operation)
    expected = run(function, operation.reference_for(get_backend("numpy")), Maker("f"), "f", values)
    reference = operation.reference_for(get_backend("cupy"))
    compare(run(function, reference, DeviceMaker("f"), "f", values), expected, "f")


@pytest.mark.parametrize("operation", _BY_OPERATION)
def test_the_kernels_are_chosen(operation):
    chosen = {entry[0] for entry in SAMPLES.values()} | WITHOUT_SAMPLES
    assert operation in chosen
    kernels = get_operation(operation).kernels_for(get_backend("cupy").xp.ndarray)
    assert "cupy" in [kernel.provider for kernel in kernels]


@pytest.mark.parametrize("dtype", "efd")
def test_dropout(dtype):
    cupy = get_backend("cupy").xp
    kernel = make_kernel("dropout", get_backend("cupy"))
    x = cupy.random.standard_normal(10000).astype(dtype)
    cupy.random.seed(3)
    y, mask = kernel.forward(x, 0.25)
    cupy.random.seed(3)
    again, _ = kernel.forward(x, 0.25)
    assert (y == again).all()
    assert mask.dtype == x.dtype
    assert set(np.unique(mask.get())) == {0, np.dtype(dtype).type(1 / 0.75)}
    assert 0.2 < float((mask == 0).mean()) < 0.3
    cupy.testing.assert_allclose(y, x * mask, 1e-3)
    cupy.testing.assert_allclose(kernel.backward(x, mask), x * mask, 1e-3)


def test_many_parameters_in_few_launches(monkeypatch):
    cupy = get_backend("cupy").xp
    kernel = make_kernel("sgd_update", get_backend("cupy"))
    launches = []
    function = kernel.function

    def counted(name, types):
        launches.append(name)
        return function(name, types)

    monkeypatch.setattr(kernel, "function", counted)
    params = [cupy.full(i % 7 * 500, i, "f") for i in range(100)]
    kernel.update_many([(p, cupy.ones_like(p)) for p in params], SGDScalars(0.5))
    assert len(launches) == 2
    for i, param in enumerate(params):
        assert (param == i - 0.5).all()


def test_large_arrays():
    """Positions beyond 32 bits; needs about 7 GiB of memory."""
    cupy = get_backend("cupy").xp
    if cupy.cuda.Device().mem_info[0] < 9 << 30:
        pytest.skip("there is less than 9 GiB of free memory")
    kernel = make_kernel("relu", get_backend("cupy"))
    x = cupy.zeros((1 << 31) + 5, np.float16)
    x[-3:] = cupy.array([-1, 2, 3], np.float16)
    y = kernel.forward(x)
    assert y[-3:].get().tolist() == [0, 2, 3]
    assert not y[:-3].any()
