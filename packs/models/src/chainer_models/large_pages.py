"""Small weights side by side in large memory, whose pages the processor finds faster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from chainer_models.packing import PackedMatrix

#: NumPy asks Linux for pages of 2 MB for arrays of this size and above. With pages of 4 kB the
#: processor looks up an address every 64 lines, and stops to fetch ahead there: a product of int8
#: that waits for memory takes a fifth more time.
LARGE_BYTES = 4 << 20

#: Bytes of a block of memory. It lives as long as one of its weights.
BLOCK_BYTES = 64 << 20

#: Bytes of a line of the cache, at which each weight begins.
_LINE = 64


def place_side_by_side(links: Iterable[PackedMatrix]) -> int:
    """Moves the codes of packed layers into large blocks of memory, in the order of the layers.

    Larger arrays, arrays of other libraries, and models that are small as a whole stay as they are.

    Args:
        links: The layers.

    Returns:
        int: Number of bytes that were moved.
    """
    small = [link for link in links if _is_small(link.codes)]
    sizes = [-(-link.codes.nbytes // _LINE) * _LINE for link in small]
    left = total = sum(sizes)
    if total < LARGE_BYTES:
        return 0
    block, at = numpy.empty(0, numpy.uint8), 0
    for link, size in zip(small, sizes, strict=True):
        if at + size > block.size:
            # The arrays of NumPy begin 16 bytes after a page or so.
            block = numpy.empty(max(min(BLOCK_BYTES, left), LARGE_BYTES) + _LINE, numpy.uint8)
            at = -block.ctypes.data % _LINE
        codes = link.codes
        place = block[at : at + codes.nbytes].view(codes.dtype).reshape(codes.shape)
        place[...] = codes
        link.codes = place
        at += size
        left -= size
    return total


def _is_small(array: object) -> bool:
    return isinstance(array, numpy.ndarray) and 0 < array.nbytes < LARGE_BYTES
