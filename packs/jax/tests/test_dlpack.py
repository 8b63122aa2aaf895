"""Variables and arrays of JAX share memory."""

from __future__ import annotations

import chainer
import jax
import numpy as np


def test_arrays_of_jax_are_read_on_the_host():
    x = jax.numpy.arange(3.0)
    v = chainer.from_dlpack(x)
    assert v.device == chainer.get_device("@numpy")
    assert not v.array.flags.writeable
    assert v.array.tolist() == [0, 1, 2]
    assert v.array.ctypes.data == x.unsafe_buffer_pointer()


def test_variables_are_given_to_jax(device):
    v = chainer.Variable(device.send(np.arange(3, dtype="f")))
    x = jax.numpy.from_dlpack(v)
    assert x.tolist() == [0, 1, 2]
    assert x.unsafe_buffer_pointer() == v.array.native.unsafe_buffer_pointer()


def test_host_arrays_come_to_the_device(device):
    v = chainer.from_dlpack(np.arange(3, dtype="f"), device=device)
    assert v.device == device
    assert v.array.tolist() == [0, 1, 2]


def test_arange_with_a_step_alone(xp):
    assert xp.arange(0, step=5).shape == (0,)
    assert xp.arange(7, step=5).tolist() == np.arange(7, step=5).tolist() == [0, 5]
