"""Arrays of other libraries without a copy."""

import numpy as np
import pytest

import chainer
import chainer.functions as F


def test_memory_is_shared_both_ways():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    v = chainer.from_dlpack(x)
    assert v.shape == (2, 3)
    assert v.dtype == np.float32
    x[0, 1] = 50
    assert v.array[0, 1] == 50
    v.array[1, 2] = 7
    assert x[1, 2] == 7
    y = np.from_dlpack(v)
    assert np.shares_memory(y, x)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32, np.bool_])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_dtypes_and_shapes(dtype, shape):
    x = np.ones(shape, dtype)
    v = chainer.from_dlpack(x)
    assert (v.dtype, v.shape) == (x.dtype, shape)


def test_strides_are_kept():
    x = np.arange(12.0).reshape(3, 4)[::2, ::-1].T
    v = chainer.from_dlpack(x)
    np.testing.assert_array_equal(v.array, x)
    assert np.shares_memory(v.array, x)


def test_gradients():
    v = chainer.from_dlpack(np.array([1.0, 2.0]))
    F.sum(v * v).backward()
    np.testing.assert_array_equal(v.grad, [2, 4])


def test_parameters_are_given():
    p = chainer.Parameter(1.0, (2,))
    assert np.shares_memory(np.from_dlpack(p), p.array)
    assert p.__dlpack_device__() == (1, 0)


def test_device_is_named():
    v = chainer.from_dlpack(np.ones(3), device="@numpy")
    assert v.device == chainer.get_device("@numpy")


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="x must be an array that exports DLPack, got list"):
        chainer.from_dlpack([1.0])


def test_unknown_memory_is_refused():
    class Array:
        def __dlpack__(self, **kwargs):
            raise AssertionError

        def __dlpack_device__(self):
            return (8, 0)

    with pytest.raises(TypeError, match=r"type 8 of DLPack.*device='@name'"):
        chainer.from_dlpack(Array())


def test_pytorch():
    torch = pytest.importorskip("torch")
    t = torch.ones(3)
    v = chainer.from_dlpack(t)
    t[0] = 5
    assert v.array[0] == 5
    assert torch.from_dlpack(v).data_ptr() == t.data_ptr()
