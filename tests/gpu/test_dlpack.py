"""Exchange of arrays on GPUs by DLPack."""

import numpy as np
import pytest

import chainer
import chainer.functions as F

cupy = pytest.importorskip("cupy")

pytestmark = pytest.mark.gpu


def test_memory_is_shared_both_ways():
    x = cupy.arange(6, dtype=np.float32).reshape(2, 3)
    v = chainer.from_dlpack(x)
    assert isinstance(v.array, cupy.ndarray)
    assert v.device == chainer.get_device("@cupy:0")
    x[0, 1] = 50
    v.array[1, 2] = 7
    np.testing.assert_array_equal(v.array.get(), [[0, 50, 2], [3, 4, 7]])
    np.testing.assert_array_equal(x.get(), v.array.get())
    assert v.__dlpack_device__() == (2, 0)
    assert cupy.from_dlpack(v).data.ptr == x.data.ptr


def test_strides_are_kept():
    x = cupy.arange(6.0).reshape(2, 3)[:, ::-1].T
    v = chainer.from_dlpack(x)
    assert v.array.strides == x.strides
    np.testing.assert_array_equal(v.array.get(), x.get())


@pytest.mark.parametrize("shape", [(), (0, 3)])
def test_shapes(shape):
    v = chainer.from_dlpack(cupy.ones(shape, np.float16))
    assert (v.dtype, v.shape) == (np.float16, shape)


def test_gradients():
    v = chainer.from_dlpack(cupy.array([1.0, 2.0]))
    F.sum(v * v).backward()
    np.testing.assert_array_equal(v.grad.get(), [2, 4])


def test_parameters_are_given():
    p = chainer.Parameter(1.0, (2,))
    p.to_device("@cupy:0")
    assert cupy.from_dlpack(p).data.ptr == p.array.data.ptr


def test_the_host_does_not_see_the_memory():
    v = chainer.from_dlpack(cupy.ones(3))
    with pytest.raises((RuntimeError, BufferError, TypeError)):
        np.from_dlpack(v)
    with pytest.raises((RuntimeError, BufferError, TypeError)):
        chainer.from_dlpack(v.array, device="@numpy")


def test_memory_of_the_host_is_not_copied_to_the_device():
    with pytest.raises(TypeError, match="cannot be directly imported"):
        chainer.from_dlpack(np.ones(3), device="@cupy:0")


@pytest.mark.multi_gpu(2)
def test_the_device_is_that_of_the_array():
    with cupy.cuda.Device(1):
        x = cupy.ones(3)
    v = chainer.from_dlpack(x)
    assert v.device == chainer.get_device("@cupy:1")
    assert v.__dlpack_device__() == (2, 1)
