"""Arrays in boxes: writes, views, copies, indexes, random numbers."""

from __future__ import annotations

import subprocess
import sys

import chainer
import numpy as np
import pytest


def check(backend, actual, expected):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(backend.to_host(actual), expected)


def test_installing_imports_nothing():
    code = (
        "import sys, chainer, chainer.functions; chainer.backend.get_device('@numpy');"
        "assert 'jax' not in sys.modules and 'chainer_jax.backend' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def write(x):
    """Writes through views of several depths; the same on NumPy and JAX."""
    x.T[0] += 1
    x[1].reshape(4, 1).T[0, 2:] = 9
    x[:, ::2][0] *= 3
    x[:, ::-1][..., 0, None][0] = -5
    x[...][1:, 1] -= 2
    x.reshape(-1)[:] += x.reshape(-1)[::-1]


def test_views_write_through(device, backend):
    expected = np.arange(12.0).reshape(3, 4)
    x = device.send(expected)
    view = x.T[1:]
    write(x)
    write(expected)
    check(backend, x, expected)
    check(backend, view, expected.T[1:])  # a view made before sees all writes


def test_assigned_shapes_keep_views(device, backend):
    x = device.send(np.arange(6.0))
    view = x[1:]
    x.shape = (2, 3)
    x[1] = 0
    check(backend, view, np.array([1.0, 2, 0, 0, 0]))


def test_copies_are_free_and_independent(device, backend):
    x = device.send(np.arange(3.0))
    y = x.copy()
    assert y.native is x.native
    x += 1
    check(backend, y, np.arange(3.0))
    check(backend, x, np.arange(1.0, 4.0))


def test_values_taken_out_never_change(device):
    x = device.send(np.zeros(3))
    native = x.native
    x[0] = 1
    assert native.tolist() == [0, 0, 0]


def test_memory_of_its_own(device):
    x = device.send(np.zeros((2, 2)))
    assert x.base is None
    assert x.T.base is x[0].base is not None


@pytest.mark.parametrize("indices", [[0, 2], [0, -3]])
def test_indexes_out_of_bounds(device, xp, indices):
    x = device.send(np.zeros((2, 3)))
    index = device.send(np.array(indices))
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 2"):
        x[index]
    with pytest.raises(IndexError, match="out of bounds"):
        x[index] = 1
    with pytest.raises(IndexError, match="out of bounds"):
        xp.add.at(x, index, 1)
    assert float(x.sum()) == 0


INDEXES = {
    "number and slice": (1, slice(1, None, 2)),
    "new axis": (None, slice(None), 0),
    "arrays": (slice(None), np.array([1, 0, 1]), np.array([0, 0, 0])),
    "arrays apart": (np.array([1, 0, 1]), slice(None), np.array([3, 3, 3])),
    "backwards": (slice(None), slice(None, None, -1), np.array([2, 2])),
    "mask": (slice(None), np.array([True, False, True])),
    "empty": (slice(2, 2),),
}


@pytest.mark.parametrize("name", INDEXES)
def test_adding_at_indexes(device, backend, xp, name):
    index = INDEXES[name]
    expected = np.arange(24.0).reshape(2, 3, 4)
    new = np.arange(1.0, 1 + expected[index].size).reshape(expected[index].shape)
    x = device.send(expected)
    sent = tuple(device.send(i) if isinstance(i, np.ndarray) else i for i in index)
    check(backend, x[sent], expected[index])
    xp.add.at(x, sent, device.send(new))
    np.add.at(expected, index, new)
    check(backend, x, expected)
    x[sent] = device.send(new)
    expected[index] = new
    # Where an element is selected twice, NumPy keeps the last value, XLA any.
    if len(np.unique(expected[index])) == expected[index].size:
        check(backend, x, expected)


def test_random_numbers(xp):
    def draws():
        xp.random.seed(5)
        return [
            xp.random.uniform(-2, 3, (4000,), dtype="f"),
            xp.random.normal(1, 2, 4000),
            xp.random.rand(40, 100),
            xp.random.randint(2, 6, size=4000),
            xp.random.binomial(1, 0.25, 4000),
            xp.random.exponential(2.0, 4000),
        ]

    first, again = draws(), draws()
    means = [0.5, 1, 0.5, 3.5, 0.25, 2]
    for x, y, mean in zip(first, again, means, strict=True):
        np.testing.assert_array_equal(x.tolist(), y.tolist())
        assert abs(float(x.mean()) - mean) < 0.15
    assert first[0].dtype == np.float32
    assert sorted(xp.random.permutation(9).tolist()) == list(range(9))
    assert xp.random.rand(3).tolist() != xp.random.rand(3).tolist()


def test_dtypes_have_64_bits(xp):
    assert xp.zeros(2).dtype == np.float64
    assert xp.arange(2).dtype == np.int64


def test_native_arrays_are_taken(backend):
    x = chainer.Variable(backend.nx.ones((2, 3)))
    y = chainer.functions.sum(x * 2)
    y.backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2


@pytest.mark.parametrize("order", ["C", "F", "reversed"])
def test_sent_arrays_are_copies(device, order):
    host = np.ones((2000, 1500), "f", order="F" if order == "F" else "C")
    sent = device.send(host[:, ::-1] if order == "reversed" else host)
    host[...] = 5
    assert float(sent.min()) == float(sent.max()) == 1
