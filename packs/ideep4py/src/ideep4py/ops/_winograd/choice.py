"""Which convolutions minimal filtering is faster for, and in which portions to compute them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py.math_mode import get_math_mode
from ideep4py.ops._images import Images, images_of
from ideep4py.ops._windows import Window
from ideep4py.ops._winograd.matrices import KERNEL, OUT, POINTS

_AT_ONCE = 1 << 20
"""Elements of transformed tiles to compute at once: they stay in the cache."""

_FILTERS_AT_ONCE = 5 << 18
"""Elements of transformed filters to compute at once, likewise."""

_GAIN = 0.8
"""The estimate must be below this share of the estimate for the direct algorithm."""


def tile_grid(size: tuple[int, ...]) -> tuple[int, int]:
    """Number of tile rows and columns for outputs of ``size``."""
    height, width = size
    return -(-height // OUT), -(-width // OUT)


def images_at_once(n: int, elements: int) -> int:
    """Number of images to compute at once, of ``elements`` tiles times channels each."""
    portions = -(-POINTS * elements * n // _AT_ONCE)
    return -(-n // min(portions, n))


def block_of_filters(outs: int, ins: int) -> int:
    """Number of filters to compute at once: a multiple of 16, or all."""
    size = max(_FILTERS_AT_ONCE // (POINTS * ins) // 16 * 16, 16)
    return min(size, outs)


class Suits(NamedTuple):
    """Whether to use minimal filtering.

    Attributes:
        data: for the convolution and its gradient by the input.
        weights: for its gradient by filters and bias.
    """

    data: bool
    weights: bool


def suits(window: Window, groups: int, data_type: int, y: tuple[int, ...], ins: int) -> Suits:
    """Whether minimal filtering can do a convolution, and is faster.

    The costs are nanoseconds on a core with two 256-bit multiply-add units; on others they are
    proportional, more or less.

    Args:
        window: of the convolution.
        groups: of the convolution.
        data_type: of all arrays.
        y: shape of the output.
        ins: number of channels of the input.
    """
    if (
        window.kernel != (KERNEL, KERNEL)
        or window.stride != (1, 1)
        or window.dilate != (1, 1)
        or max(window.pad) >= KERNEL
        or data_type != C.F32
        or groups != 1
        or ins % 16
        or y[1] % 16
        or not runtime.winograd
        or get_math_mode() != "float32"
    ):
        return Suits(False, False)
    n, outs, *out = y
    rows, columns = tile_grid(tuple(out))
    tiles = n * rows * columns
    pairs = ins * outs
    positions = n * out[0] * out[1]
    data = tiles * (80.0 * ins + 35.0 * outs + 0.93 * pairs) + 16.0 * pairs
    weights = tiles * (80.0 * ins + 40.0 * outs + 1.05 * pairs) + 28.0 * pairs
    return Suits(
        data < _GAIN * (0.2 * positions + 6.0) * pairs,
        weights < _GAIN * (0.265 * positions + 16.0) * pairs,
    )


def images_in(
    source: Sequence[L.Layout], target: Sequence[L.Layout]
) -> tuple[L.Layout, L.Layout, tuple[Images, Images]] | None:
    """Layouts to use and where the images lie in them.

    Args:
        source: layouts that an argument may be brought into, the one that it has first.
        target: the same for the result or for another argument.

    Returns:
        Layout of the one and of the other, and where images lie in them; None where no layout
        is one of unfilled blocks of channels.
    """
    found = []
    for choices in (source, target):
        for layout in choices:
            images = images_of(layout)
            if images is not None:
                found.append((layout, images))
                break
        else:
            return None
    (a, a_images), (b, b_images) = found
    return a, b, (a_images, b_images)
