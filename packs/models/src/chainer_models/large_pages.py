"""Weights side by side in large memory, whose pages the processor finds faster."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import HostArray

if TYPE_CHECKING:
    import chainer

    from chainer_models.packing import PackedMatrix

#: NumPy asks Linux for pages of 2 MB for arrays of this size and above. With pages of 4 kB the
#: processor looks up an address every 64 lines, and stops to fetch ahead there: a product of int8
#: that waits for memory takes a fifth more time, and a token of GPT-2 in float32 an eighth.
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
    sizes = [_size_in_lines(link.codes) for link in small]
    total = sum(sizes)
    if total < LARGE_BYTES:
        return 0
    for link, memory in zip(small, _places(sizes), strict=True):
        codes = link.codes
        place = memory[: codes.nbytes].view(codes.dtype).reshape(codes.shape)
        place[...] = codes
        link.codes = place
    return total


def copy_parameters(model: chainer.Link) -> None:
    """Copies all parameters into large blocks of memory, in the order in which they are used.

    An array keeps the order of its axes in memory. Arrays of other libraries stay as they are.
    Pages of mapped files are given back as soon as they are copied.

    Args:
        model: The model. Its mapped arrays must have the numbers of the file: changes are lost.
    """
    # Layers in the order of their numbers: a path has layer 10 before layer 2.
    found = [p for p in model.params() if _is_copied(p.array)]
    places = _places([_size_in_lines(p.array) for p in found])
    for parameter, memory in zip(found, places, strict=True):
        array: Any = parameter.array
        is_transposed = array.flags.f_contiguous and not array.flags.c_contiguous
        source = array.T if is_transposed else array
        place = memory[: array.nbytes].view(array.dtype).reshape(source.shape)
        place[...] = source
        parameter.array = place.T if is_transposed else place
        _give_back(source)


def _give_back(array: HostArray) -> None:
    """Gives back the pages of a mapped file that an array was read from.

    They would count as memory of the process until the file is closed, a second copy of the model.

    Args:
        array: A C-contiguous array. Nothing happens if it is not a view of a mapped file.
    """
    base: object = array
    while isinstance(base, numpy.ndarray):
        base = base.base
    if not isinstance(base, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = array.ctypes.data - numpy.frombuffer(base, numpy.uint8).ctypes.data
    first = start // mmap.PAGESIZE * mmap.PAGESIZE
    # Pages are read again where an array beside this one needs them.
    base.madvise(mmap.MADV_DONTNEED, first, start + array.nbytes - first)


def _places(sizes: Sequence[int]) -> Iterator[HostArray]:
    """Returns memory of each size, all of it from few large blocks.

    Args:
        sizes: Numbers of bytes, whole lines of the cache.
    """
    left = sum(sizes)
    block, at = numpy.empty(0, numpy.uint8), 0
    for size in sizes:
        if at + size > block.size:
            # The arrays of NumPy begin 16 bytes after a page or so.
            bytes_of_block = max(min(BLOCK_BYTES, left), LARGE_BYTES, size)
            block = numpy.empty(bytes_of_block + _LINE, numpy.uint8)
            at = -block.ctypes.data % _LINE
        yield block[at : at + size]
        at += size
        left -= size


def _size_in_lines(array: HostArray) -> int:
    return -(-array.nbytes // _LINE) * _LINE


def _is_small(array: object) -> bool:
    return isinstance(array, numpy.ndarray) and 0 < array.nbytes < LARGE_BYTES


def _is_copied(array: object) -> bool:
    return isinstance(array, numpy.ndarray) and array.nbytes > 0
