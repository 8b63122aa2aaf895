"""The last step of ChainerCV's non-maximum suppression on GPUs, on the host."""

from __future__ import annotations

import numpy

from chainer.core.typing import Array

__all__ = ["_nms_gpu_post"]


def _nms_gpu_post(
    mask: Array, n_bbox: int, threads_per_block: int, col_blocks: int
) -> tuple[Array, int]:
    """Selects boxes in order, leaving out those that overlap with a selected one.

    Args:
        mask (array): Bits of overlaps, uint64, ``n_bbox * col_blocks`` elements. Bit ``j`` of
            element ``i * col_blocks + b`` says that boxes ``i`` and ``b * threads_per_block + j``
            overlap.
        n_bbox (int): Number of boxes.
        threads_per_block (int): Number of boxes in a block, at most 64.
        col_blocks (int): Number of blocks.

    Returns:
        tuple: Array of shape ``(n_bbox,)``, int32, that begins with the indices of the selected
        boxes, and the number of these.
    """
    rows = numpy.asarray(mask, numpy.uint64).reshape(n_bbox, col_blocks)
    suppressed = numpy.zeros(col_blocks, numpy.uint64)
    selection = numpy.zeros(n_bbox, numpy.int32)
    count = 0
    for box in range(n_bbox):
        block, bit = divmod(box, threads_per_block)
        if int(suppressed[block]) >> bit & 1:
            continue
        selection[count] = box
        count += 1
        suppressed |= rows[box]
    return selection, count
