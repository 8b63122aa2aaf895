"""Where minimal filtering is faster than the direct algorithm, and how its work is divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.library import HAS_AVX512
from ideep4py.math_mode import is_exact
from ideep4py.ops._images import Images, images_of
from ideep4py.ops._windows import Window
from ideep4py.ops._winograd.matrices import KERNEL, OUT, POINTS

#: Elements of transformed tiles to compute at once: they stay in the cache.
_AT_ONCE = 1 << 20

#: Elements of transformed filters to compute at once, likewise.
_FILTERS_AT_ONCE = 5 << 18

#: The estimate must be below this share of the estimate for the direct algorithm.
_GAIN = 0.95 if HAS_AVX512 else 0.8


class _Costs(NamedTuple):
    """Nanoseconds on one core, fitted to measurements with one thread.

    Attributes:
        tile_in: transforming the input, for each tile and channel.
        tile_out: transforming the output, for each tile and channel.
        tile_pair: multiplying, for each tile and pair of channels.
        pair: transforming the filters, for each pair of channels.
        direct_position: oneDNN's direct algorithm, for each position of the output and pair.
        direct_pair: the same, for each pair.
    """

    tile_in: float
    tile_out: float
    tile_pair: float
    pair: float
    direct_position: float
    direct_pair: float


if HAS_AVX512:
    # Xeon (Cascade Lake), 31 shapes: the fit is within 20%. The direct algorithm gains more from
    # vectors of 16 numbers than the transformations, which are limited by memory.
    _DATA = _Costs(115.0, 50.0, 1.2, 85.0, 0.21, 10.0)
    _WEIGHTS = _Costs(110.0, 80.0, 1.2, 60.0, 0.235, 9.0)
else:
    # EPYC with two 256-bit multiply-add units; on others they are proportional, more or less.
    _DATA = _Costs(80.0, 35.0, 0.93, 16.0, 0.2, 6.0)
    _WEIGHTS = _Costs(80.0, 40.0, 1.05, 28.0, 0.265, 16.0)


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
        data: for the convolution and its gradient with respect to the input.
        weights: for its gradient with respect to filters and bias.
    """

    data: bool
    weights: bool


def suits(window: Window, groups: int, data_type: int, y: tuple[int, ...], ins: int) -> Suits:
    """Whether minimal filtering can do a convolution, and is faster.

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
        or not is_exact()
    ):
        return Suits(False, False)
    n, outs, *out = y
    rows, columns = tile_grid(tuple(out))
    tiles = n * rows * columns
    pairs = ins * outs
    positions = n * out[0] * out[1]

    def faster(c: _Costs) -> bool:
        transformed = tiles * (c.tile_in * ins + c.tile_out * outs + c.tile_pair * pairs)
        direct = (c.direct_position * positions + c.direct_pair) * pairs
        return transformed + c.pair * pairs < _GAIN * direct

    return Suits(faster(_DATA), faster(_WEIGHTS))


def images_in(
    source: Sequence[L.Layout], target: Sequence[L.Layout]
) -> tuple[L.Layout, L.Layout, tuple[Images, Images]] | None:
    """Chooses layouts of images that are row-major or in whole blocks of channels.

    Args:
        source: layouts for an argument in order of preference, its own first.
        target: the same for the result or for another argument.

    Returns:
        The layout of the one and of the other, and the strides of images in them; None if one of
        them cannot be chosen.
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
