"""Joining arrays and taking them apart, in blocks of channels above all."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import channels_last, elements

from ideep4py import ops
from ideep4py._core.library import ffi
from ideep4py.ops import _channel_blocks


@pytest.fixture(params=["blocked", "padded", "dense", "channels_last"])
def x(request, blocked):
    """(2, C, 5, 6): in whole blocks, with a padded block, row-major, or channels last."""
    channels = 5 if request.param == "padded" else 8
    array = blocked(2, channels, 5, 6)
    if request.param == "channels_last":
        return channels_last(array)
    return ops.dense(array) if request.param == "dense" else array


@pytest.fixture
def always(monkeypatch):
    """Blocks are kept wherever they can be, however small the arrays."""
    monkeypatch.setattr(_channel_blocks, "_LARGE", 0)
    monkeypatch.setattr(_channel_blocks, "_CHANNELS_PER_GROUP", 0)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_concat_and_split(x, axis) -> None:
    plain = elements(x)
    joined = ops.concat([x, plain, x], axis)
    np.testing.assert_array_equal(elements(joined), np.concatenate([plain] * 3, axis))
    size = joined.shape[axis]
    for cuts in ([1], [2, size - 1], [size // 3, 2 * size // 3]):
        parts = ops.split(joined, cuts, axis)
        for part, expected in zip(parts, np.split(elements(joined), cuts, axis), strict=True):
            np.testing.assert_array_equal(elements(part), expected)


def test_concat_and_split_errors(normal) -> None:
    x = normal(2, 8, 3, 3)
    with pytest.raises(ValueError, match="xs\\[1\\] has shape"):
        ops.concat([x, normal(3, 8, 3, 3)], 1)
    with pytest.raises(ValueError, match="at least one"):
        ops.concat([])
    for cuts in ([0], [8], [4, 4], [9]):
        with pytest.raises(ValueError, match="indices must rise"):
            ops.split(x, cuts)


def check_padding(array) -> None:
    """Primitives count on zeros where the last block is filled up."""
    memory = np.frombuffer(ffi.buffer(array._data[1], array.layout.nbytes), np.float32)
    assert np.count_nonzero(memory) == np.count_nonzero(elements(array))


SIZES = [(8,), (1, 1), (3, 4), (2, 3, 2)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("channels", range(1, 34))
def test_all_numbers_of_channels(always, blocked, normal, channels, size) -> None:
    for others in (1, 4, 12, 16, 24, 33):
        x, y = blocked(2, channels, *size), blocked(2, others, *size)
        z = normal(2, 3, *size)
        expected = np.concatenate([elements(x), elements(y), z], 1)
        joined = ops.concat([x, y, z])
        np.testing.assert_array_equal(elements(joined), expected)
        assert not joined.layout.dense
        check_padding(joined)
        parts = ops.split(joined, [channels, channels + others])
        for part, whole in zip(parts, (x, y, z), strict=True):
            np.testing.assert_array_equal(elements(part), elements(ops.dense(whole)))
            check_padding(part)
        assert ops.concat(parts).layout is joined.layout


@pytest.mark.parametrize("sizes", [(16, 32), (48, 16, 3), (40, 24), (36, 12)])
def test_large_arrays_keep_blocks(blocked, sizes) -> None:
    xs = [blocked(8, size, 32, 32) for size in sizes]
    assert not any(x.layout.dense for x in xs)
    joined = ops.concat(xs)
    assert not joined.layout.dense
    np.testing.assert_array_equal(elements(joined), np.concatenate([elements(x) for x in xs], 1))
    parts = ops.split(joined, np.cumsum(sizes[:-1]))
    assert [part.layout for part in parts] == [x.layout for x in xs]
    for part, x in zip(parts, xs, strict=True):
        np.testing.assert_array_equal(elements(part), elements(x))


def test_row_major_where_blocks_do_not_pay(blocked) -> None:
    """Single channels would be copied one at a time."""
    joined = ops.concat([blocked(8, 13, 32, 32), blocked(8, 32, 32, 32)])
    assert joined.layout.dense


def test_blocks_have_the_layout_that_convolutions_choose(blocked) -> None:
    for shape in ((2, 48, 5), (2, 48, 5, 6), (1, 48, 3, 4, 5), (2, 40, 3, 3)):
        layout = blocked(*shape).layout
        block = _channel_blocks.block_of(layout)
        assert block in (8, 16)
        assert _channel_blocks.in_blocks(shape, block) is layout


def test_split_at_block_bounds_keeps_blocks(blocked) -> None:
    parts = ops.split(blocked(1, 48, 3, 3), [16, 32])
    assert not any(p.layout.dense for p in parts)
