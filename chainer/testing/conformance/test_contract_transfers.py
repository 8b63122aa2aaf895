"""The contract of transfers: from and to the host, between devices, and no mixing."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import numpy as np
import pytest

from chainer.core.arrays.backend import backend_of, copyto, get_backend, get_device
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.testing.conformance.contract import assert_equal, assert_on_device, values
from chainer.testing.conformance.refusals import requires

DTYPES = ("float16", "float32", "float64", "int32", "int64", "uint8", "bool")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 4), (1, 1, 5)], ids=str)
def test_arrays_survive_the_way_there_and_back(backend, device, dtype, shape):
    host = values(dtype, shape)
    array = backend.from_host(host, device)
    assert_on_device(array, device)
    assert array.shape == shape
    assert array.dtype == host.dtype
    back = backend.to_host(array)
    assert type(back) is np.ndarray
    assert back.dtype == host.dtype
    np.testing.assert_array_equal(back, host)


def test_arrays_that_fit_become_its_own(backend, device):
    assert backend_of(backend.from_host(values(), device)) is backend


def test_non_contiguous_host_arrays_are_taken(backend, device):
    host = values(shape=(4, 6))[::2, ::-1].T
    np.testing.assert_array_equal(backend.to_host(backend.from_host(host, device)), host)


def test_non_contiguous_arrays_come_back(backend, device):
    array = backend.from_host(values(shape=(4, 6)), device)[::2].T
    np.testing.assert_array_equal(backend.to_host(array), values(shape=(4, 6))[::2].T)


@requires("in_place")
def test_memory_of_the_host_is_not_shared(backend, device):
    if backend.family == get_backend("numpy").family:
        return  # arrays in host memory may be the same ones
    host = values()
    array = backend.from_host(host, device)
    host[...] = 9
    assert_equal(array, values())
    with device:
        backend.to_host(array)[...] = 9
    assert_equal(array, values())


def test_send_keeps_what_is_here(device, array):
    assert device.send(array) is array
    assert device.send(None) is None


def test_send_takes_nested_arrays(device):
    sent = device.send({"a": [values(), None], "b": (values(),)})
    assert sent["a"][1] is None
    assert isinstance(sent["b"], tuple)
    assert_on_device(sent["b"][0], device)
    np.testing.assert_array_equal(get_device("@numpy").send(sent["a"][0]), values())


def test_send_refuses_other_objects(device):
    with pytest.raises(TypeError, match="expected"):
        device.send(object())


def test_arrays_are_sent_to_every_device(backend):
    for entry in backend.devices():
        array = entry.send(values())
        assert backend.device_of(array) == entry
        for other in backend.devices():
            moved = other.send(array)
            assert backend.device_of(moved) == other
            assert_equal(moved, values())


@requires("in_place")
def test_copies_are_independent(backend, device, array):
    copied = backend.copy(array, device)
    assert_on_device(copied, device)
    copied[0, 0] = 100
    assert_equal(array, values())


def test_copies_of_non_contiguous_arrays(backend, device, array):
    assert_equal(backend.copy(array[:, ::2].T, device), values()[:, ::2].T)


def test_copyto_from_host_and_back(array):
    source = np.full((2, 3), 7, np.float32)
    copyto(array, source)
    assert_equal(array, source)
    target = np.zeros((2, 3), np.float32)
    copyto(target, array)
    np.testing.assert_array_equal(target, source)


def test_copyto_broadcasts_and_casts(device, array):
    copyto(array, device.send(np.array([1, 2, 3], np.int32)))
    assert_equal(array, [[1, 2, 3]] * 2)


def test_copyto_between_devices(backend):
    first, last = backend.devices()[0], backend.devices()[-1]
    target = first.send(np.zeros((2, 3), np.float32))
    copyto(target, last.send(values()))
    assert backend.device_of(target) == first
    assert_equal(target, values())


class _Add(FunctionNode):
    def forward(self, inputs):
        return (inputs[0] + inputs[1],)


@pytest.mark.parametrize("turn", [1, -1], ids=["array-first", "host-first"])
def test_host_arrays_are_not_mixed_in(backend, array, turn):
    inputs = (array, values())[::turn]
    if backend.family == get_backend("numpy").family:
        (y,) = _Add().apply(inputs)
        assert_equal(y, 2 * values())
        return
    with pytest.raises(TypeError, match=r"incompatible array types are mixed .*\(_Add\)"):
        _Add().apply(inputs)
    with pytest.raises(TypeError):
        _ = Variable(inputs[0]) + Variable(inputs[1])


def test_gradients_of_another_backend_are_refused(backend, array):
    x = Variable(array)
    if backend.family == get_backend("numpy").family:
        x.grad = values()
        assert_equal(x.grad, values())
        return
    with pytest.raises(TypeError):
        x.grad = values()
