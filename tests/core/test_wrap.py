"""Backends whose arrays wrap those of a library."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.core.arrays.backend import Backend, wrap


class Native:
    """An array of a library: a NumPy array that has to be wrapped."""

    def __init__(self, host):
        self.host = np.asarray(host)

    shape = property(lambda self: self.host.shape)


class Wrapped(np.ndarray):
    """What the backend's functions work with."""


class WrappingBackend(Backend):
    name = "wrapping"
    array_types = (Wrapped, Native)
    xp = np

    def wrap(self, array):
        return array.host.view(Wrapped) if isinstance(array, Native) else array

    def from_host(self, array, device):
        return array.copy().view(Wrapped)

    def to_host(self, array):
        return np.array(array)


backend = WrappingBackend()


class Pack:
    chainer_api = 1

    @staticmethod
    def chainer_backends(registry):
        registry.register("wrapping", backend)


@pytest.fixture(autouse=True)
def _registered():
    pack = Pack()
    chainer.plugins.register(pack, name="wrapping")
    yield
    chainer.plugins.unregister(pack)


def native():
    return Native(np.arange(3, dtype=np.float32))


def test_adopt():
    assert type(wrap(native())) is Wrapped
    host = np.zeros(3)
    assert wrap(host) is host
    with pytest.raises(TypeError, match=r"expected.*\n.*str"):
        wrap("text")


def test_variables_hold_adopted_arrays():
    x = chainer.Variable(native(), grad=native())
    assert type(x.array) is Wrapped
    assert type(x.grad) is Wrapped
    x.array = native()
    x.grad = native()
    assert type(x.array) is Wrapped
    assert type(x.grad) is Wrapped
    assert x.device == chainer.get_device("@wrapping")


def test_functions_get_and_return_adopted_arrays():
    class Same(chainer.FunctionNode):
        def forward(self, inputs):
            self.seen = type(inputs[0])
            return (native(),)

    node = Same()
    (y,) = node.apply((native(),))
    assert node.seen is Wrapped
    assert type(y.array) is Wrapped
    with chainer.no_backprop_mode():
        (y,) = Same().apply((native(),))
    assert type(y.array) is Wrapped


def test_operands_are_adopted():
    y = chainer.Variable(native()) * native() + F.identity(native())
    np.testing.assert_array_equal(np.asarray(y.array), [0, 2, 6])


def test_devices_send_adopted_arrays():
    device = chainer.get_device("@wrapping")
    assert type(device.send(native())) is Wrapped


def test_batches_are_of_adopted_arrays():
    batch = chainer.dataset.concat_examples([native(), native()])
    np.testing.assert_array_equal(np.asarray(batch), [[0, 1, 2]] * 2)
