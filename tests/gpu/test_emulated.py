"""The emulation of CUDA (``tests/gpu/emulation``) itself, in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chainer
from chainer.core.arrays.backend import get_backend
from tests.gpu.emulation import counters
from tests.training import test_device_steps as steps

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not counters.active(), reason="not in the emulation: make gpu-emulated"
)


@pytest.fixture
def cupy():
    return get_backend("cupy").xp


def random(shape, dtype):
    values = np.random.default_rng(0).standard_normal(shape)
    return (values + (1j * values[::-1] if np.dtype(dtype).kind == "c" else 0)).astype(dtype)


def assert_near(actual, expected, tolerance=1e-5):
    np.testing.assert_allclose(actual.get(), expected, rtol=tolerance, atol=tolerance)


def test_cupy_is_the_real_one(cupy):
    assert cupy.__version__.startswith("14.")
    assert cupy.cuda.runtime.getDeviceProperties(0)["name"] == b"Emulated GPU"


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "i"])
def test_elementwise_and_reductions(cupy, dtype):
    x = (random((5, 70), "f") * 4).astype(dtype)
    tolerance = 1e-2 if dtype == "e" else 1e-5
    on_device, wide = cupy.asarray(x), x.astype("D" if dtype == "F" else "d")
    assert_near(on_device * 2 + 1, x * 2 + 1, tolerance)
    assert_near(on_device.sum(axis=1), wide.sum(axis=1), tolerance)
    assert_near(cupy.cumsum(on_device, axis=1), wide.cumsum(axis=1), 10 * tolerance)


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "D"])
def test_products(cupy, dtype):
    a, b = random((3, 5, 6), dtype), random((3, 6, 4), dtype)
    expected = np.matmul(a, b, dtype=None if dtype != "e" else "f")
    tolerance = 1e-2 if dtype == "e" else 1e-5
    assert_near(cupy.matmul(cupy.asarray(a), cupy.asarray(b)), expected, tolerance)
    assert_near(cupy.asarray(a)[0] @ cupy.asarray(b)[0], expected[0], tolerance)
    assert_near(cupy.asarray(b)[0].T @ cupy.asarray(a)[0].T, expected[0].T, tolerance)


@pytest.mark.parametrize("dtype", "fdFD")
def test_linear_algebra(cupy, dtype):
    a, b = random((4, 4), dtype), random((3, 5, 5), dtype)
    on_device = cupy.asarray(a)
    assert_near(cupy.linalg.inv(on_device), np.linalg.inv(a), 1e-3)
    assert_near(cupy.linalg.inv(cupy.asarray(b)), np.linalg.inv(b), 1e-3)
    assert_near(cupy.linalg.svd(on_device)[1], np.linalg.svd(a)[1], 1e-4)
    q, r = cupy.linalg.qr(on_device)
    assert_near(q @ r, a, 1e-4)
    positive = a @ a.conj().T + np.eye(4, dtype=dtype)
    assert_near(cupy.linalg.cholesky(cupy.asarray(positive)), np.linalg.cholesky(positive), 1e-4)
    assert_near(cupy.linalg.eigvalsh(cupy.asarray(positive)), np.linalg.eigvalsh(positive), 1e-3)


def test_sorts(cupy):
    x = random((4, 30), "f")
    x[1, 2] = np.nan
    np.testing.assert_array_equal(cupy.sort(cupy.asarray(x)).get(), np.sort(x))
    order = cupy.argsort(cupy.asarray(x), axis=0).get()
    np.testing.assert_array_equal(order, np.argsort(x, axis=0, kind="stable"))
    keys = np.random.default_rng(1).integers(0, 3, (3, 20))
    np.testing.assert_array_equal(cupy.lexsort(cupy.asarray(keys)).get(), np.lexsort(keys))


def test_random_numbers(cupy):
    generator = cupy.random.RandomState(3)
    x, u = generator.normal(2, 3, 10001, dtype="f"), generator.uniform(-1, 1, 10001)
    assert abs(float(x.mean()) - 2) < 0.1
    assert abs(float(x.std()) - 3) < 0.1
    assert -1 < float(u.min()) < -0.99 and 0.99 < float(u.max()) <= 1
    again = cupy.random.RandomState(3).normal(2, 3, 10001, dtype="f")
    assert bool((again == x).all())


def test_fourier_transforms(cupy):
    x, z = random((3, 4, 6), "d"), random((3, 14), "D")
    assert_near(cupy.fft.fft(cupy.asarray(z)), np.fft.fft(z))
    assert_near(cupy.fft.ifft(cupy.asarray(z), axis=0), np.fft.ifft(z, axis=0))
    half = cupy.fft.rfftn(cupy.asarray(x), axes=(1, 2))
    assert_near(half, np.fft.rfftn(x, axes=(1, 2)))
    assert_near(cupy.fft.irfftn(half, s=(4, 6), axes=(1, 2)), x)


def test_user_kernels(cupy):
    source = """
    template <class T> __global__ void reversed(const T* x, T* y) {
      extern __shared__ float values[];
      values[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      y[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
    }
    """
    module = cupy.RawModule(code=source, name_expressions=["reversed<float>"])
    x, y = cupy.arange(8, dtype="f"), cupy.empty(8, "f")
    module.get_function("reversed<float>")((1,), (8,), (x, y), shared_mem=32)
    assert y.get().tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_a_source_that_does_not_compile(cupy):
    with pytest.raises(cupy.cuda.compiler.CompileException):
        cupy.RawKernel('extern "C" __global__ void f() { unknown; }', "f").compile()


def test_threads_that_wait_in_vain(cupy):
    source = """
    extern "C" __global__ void f(int* x) {
      __shared__ int n;
      if (threadIdx.x < 3) { __syncthreads(); __syncthreads(); } else { __shfl_sync(~0u, n, 0); }
    }
    """
    with pytest.raises(cupy.cuda.driver.CUDADriverError, match="LAUNCH_FAILED"):
        cupy.RawKernel(source, "f")((1,), (32,), (cupy.zeros(1, "i"),))


def test_launches_that_are_too_large(cupy):
    kernel = cupy.RawKernel('extern "C" __global__ void f() {}', "f")
    with pytest.raises(cupy.cuda.driver.CUDADriverError, match="INVALID_VALUE"):
        kernel((1,), (1025,), ())


def test_copies_past_the_end(cupy):
    runtime = cupy.cuda.runtime
    source, target = runtime.malloc(16), runtime.malloc(32)
    try:
        with pytest.raises(runtime.CUDARuntimeError, match="InvalidValue"):
            runtime.memcpy(target, source, 32, runtime.memcpyDeviceToDevice)
        with pytest.raises(runtime.CUDARuntimeError, match="InvalidValue"):
            runtime.memcpy(target, source, 8, runtime.memcpyHostToDevice)
    finally:
        runtime.free(source)
        runtime.free(target)
    with pytest.raises(runtime.CUDARuntimeError, match="InvalidValue"):
        runtime.free(target)


def test_counters(cupy):
    x = cupy.arange(4)
    with counters.counting() as counted:
        x += 1
    assert (counted.copies, counted.synchronizations, counted.launches) == (0, 0, 1)
    with counters.counting() as counted:
        x.get()
        cupy.cuda.Device().synchronize()
    assert counted.copies == 1 and counted.synchronizations >= 2


def test_idle_devices():
    program = "import cupy; x = cupy.zeros(2); x += 1; print(x.get().tolist(), (x @ x).shape)"
    command = [sys.executable, "-m", "tests.gpu.emulation", "--idle", "python", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert (done.stdout, done.returncode) == ("[0.0, 0.0] ()\n", 0), done.stderr


@pytest.mark.parametrize("network", sorted(steps.NETWORKS))
def test_steps_do_not_touch_the_host(network):
    """Labels and inputs are on the device; what is done once for a signature is done."""
    model, optimizer, x, t = steps.training(network, "@cupy:0")
    with chainer.using_config("use_cudnn", "never"):
        for _ in range(3):
            optimizer.update(model, x, t)
        with counters.counting() as counted:
            for _ in range(3):
                optimizer.update(model, x, t)
    assert (counted.copies, counted.synchronizations) == (0, 0)
    assert counted.launches > 0
