"""Indexes mean what they mean in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

ROWS = np.array([1, 0, -1])
MASK = np.array([True, False, True])

INDEXES = {
    "number": (1,),
    "negative numbers": (-1, -2),
    "all": (0, 1, 2),
    "new axis": (None, slice(None), 0),
    "new axis at the end": (..., None),
    "backwards": (slice(None), slice(None, None, -1)),
    "backwards by two": (..., slice(3, 0, -2)),
    "by two": (slice(None), slice(1, None), slice(None, None, 2)),
    "beyond the end": (slice(0, 9), slice(5, 9)),
    "empty": (slice(0, 0),),
    "array": (slice(None), ROWS),
    "array at the end": (..., ROWS),
    "two arrays": (slice(None), ROWS, ROWS),
    "two arrays apart": (ROWS % 2, slice(None), ROWS),
    "number and array": (0, slice(None), ROWS),
    "number beside array": (slice(None), 0, ROWS),
    "broadcast arrays": (slice(None), ROWS[:, None], ROWS),
    "array and new axis": (1, ROWS, None),
    "array and backwards": (slice(None), slice(None, None, -1), ROWS),
    "empty array": (slice(None), np.zeros((0,), int)),
    "mask of an axis": (slice(None), MASK),
    "mask and slice": (slice(None), MASK, slice(None, None, 2)),
    "mask of two axes": (np.array([[True, False, True], [False, False, True]]),),
    "list": ([1, 0],),
    "boolean": (True,),
}


def lowered(index, device):
    return tuple(device.send(item) if isinstance(item, np.ndarray) else item for item in index)


def host_values():
    return np.arange(24.0).reshape(2, 3, 4)


def check(actual, expected, device):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(device.backend.to_host(actual), expected)


@pytest.mark.parametrize("name", INDEXES)
def test_reading(device, name):
    index = INDEXES[name]
    x = device.send(host_values())
    check(x[lowered(index, device)], host_values()[index], device)


@pytest.mark.parametrize("value", ["number", "one", "array"])
@pytest.mark.parametrize("name", INDEXES)
def test_writing(device, name, value):
    index = INDEXES[name]
    expected = host_values()
    shape = expected[index].shape
    new = np.full(shape and (1,), 7.0)
    if value == "array":
        new = np.asarray(-np.arange(1.0, 1 + np.prod(shape)).reshape(shape))
    x = device.send(expected)
    x[lowered(index, device)] = 7 if value == "number" else device.send(new)
    expected[index] = new
    check(x, expected, device)


@pytest.mark.parametrize("name", INDEXES)
def test_adding(device, xp, name):
    index = INDEXES[name]
    expected = host_values()
    new = np.arange(1.0, 1 + expected[index].size).reshape(expected[index].shape)
    x = device.send(expected)
    xp.add.at(x, lowered(index, device), device.send(new))
    np.add.at(expected, index, new)
    check(x, expected, device)


def test_adding_many_times_to_few_elements(device, xp):
    random = np.random.RandomState(0)
    rows, values = random.randint(0, 4, 300), random.randint(0, 100, (300, 2)).astype(float)
    expected = np.zeros((4, 2))
    np.add.at(expected, rows, values)
    x = device.send(np.zeros((4, 2)))
    xp.add.at(x, device.send(rows), device.send(values))
    check(x, expected, device)


def test_mask_of_all_elements(device):
    x, expected = device.send(host_values()), host_values()
    check(x[x > 9], expected[expected > 9], device)
    x[x > 9] = 0
    expected[expected > 9] = 0
    check(x, expected, device)
    x[x == 0] = device.send(np.arange(15.0))
    expected[expected == 0] = np.arange(15.0)
    check(x, expected, device)


def test_views_are_written_through(device):
    x, expected = device.send(host_values()), host_values()
    x[1].reshape(12).reshape(3, 4).T[2] = 5
    expected[1].reshape(12).reshape(3, 4).T[2] = 5
    check(x, expected, device)


def test_overlapping_assignment(device):
    x, expected = device.send(np.arange(8.0)), np.arange(8.0)
    x[1:] = x[:-1]
    expected[1:] = expected[:-1].copy()
    check(x, expected, device)
    x += x[::-1]
    check(x, expected + expected[::-1], device)


@pytest.mark.parametrize("index", [2, (0, 3), (0, 0, 0, 0)], ids=str)
def test_out_of_bounds(device, index):
    x = device.send(host_values())
    with pytest.raises(IndexError):
        x[index]


def test_arrays_out_of_bounds(device):
    x = device.send(host_values())
    with pytest.raises(IndexError, match="out of bounds"):
        x[device.send(np.array([0, 2]))]
    with pytest.raises(IndexError, match="out of bounds"):
        x[device.send(np.array([0, -3]))] = 0


def test_wrong_indexes(device):
    x = device.send(host_values())
    with pytest.raises(TypeError, match="do not mix"):
        x[np.array([0])]
    with pytest.raises(IndexError, match="integer"):
        x[device.send(np.array([0.5]))]
    with pytest.raises(ValueError, match="shape"):
        x[:, ::-1, device.send(ROWS)] = device.send(np.zeros((5, 5)))
