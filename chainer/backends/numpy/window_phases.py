"""Patches of images whose samples are last in memory, for windows of any stride.

A *phase* is a position of the padded image modulo the stride. The elements of a phase are an image
of their own. An element of the windows takes neighboring elements of one phase, so that with the
samples last it is copied or added in long runs, whatever the stride: a run is a row of windows of
all samples. In the image itself the same elements are single numbers with gaps between them.
"""

from __future__ import annotations

import functools
from itertools import product
from math import prod
from typing import NamedTuple

from chainer.core.arrays.windows import window_range
from chainer.core.typing import Array, ArrayModule, DTypeLike, Shape

_ALL = slice(None)


class WindowPhases(NamedTuple):
    """Where the elements of images and of windows are in the phases.

    Phases of images ``(N, C, d_1, ...)`` are one array ``(s_1, ..., C, l_1, ..., N)``. The numbers
    ``s_i`` are the strides. The elements in the padding are zero.

    Attributes:
        stride: Distance between windows.
        lengths: The sizes ``l_i`` of a phase.
        images: For each phase that windows meet: its slices of phases, and slices of the image.
        elements: For each element of a window: its index, and its slices of phases, one for each
            window.
        covers_image: Whether the phases have each element of the image.
    """

    stride: Shape
    lengths: Shape
    images: tuple[tuple[tuple[int | slice, ...], tuple[slice, ...]], ...]
    elements: tuple[tuple[Shape, tuple[int | slice, ...]], ...]
    covers_image: bool

    def split(self, images: Array, phases: Array) -> None:
        """Copies images ``(N, C, d_1, ...)`` to phases whose padding is zero.

        Args:
            images: Images.
            phases: Array to fill. It has zeros, or the phases of images of the same sizes.
        """
        ndim = images.ndim
        last = images.transpose(*range(1, ndim), 0)
        for place, positions in self.images:
            phases[place] = last[(_ALL, *positions)]

    def gather(self, phases: Array, patches: Array) -> None:
        """Copies patches out.

        Args:
            phases: Phases of images.
            patches: Array ``(C, k_1, ..., t_1, ..., N)`` to fill.
        """
        for index, place in self.elements:
            patches[(_ALL, *index)] = phases[place]

    def add(self, patches: Array, phases: Array) -> None:
        """Adds patches ``(C, k_1, ..., t_1, ..., N)`` to phases, which are changed in place."""
        for index, place in self.elements:
            phases[place] += patches[(_ALL, *index)]

    def join(self, phases: Array, images: Array) -> None:
        """Copies phases to images ``(N, C, d_1, ...)``, the opposite of :meth:`split`.

        Elements of images that no window meets are left as they are.
        """
        ndim = images.ndim
        for place, positions in self.images:
            part = phases[place]
            images[(..., *positions)] = part.transpose(ndim - 1, *range(ndim - 1))

    def zeros(self, xp: ArrayModule, channels: int, samples: int, dtype: DTypeLike) -> Array:
        """Returns phases without images.

        Args:
            xp: Array namespace.
            channels: Number of channels.
            samples: Number of samples.
            dtype: Dtype.
        """
        return xp.zeros((*self.stride, channels, *self.lengths, samples), dtype)


# Remembered as the slices of windows are: a training has a few sizes.
@functools.lru_cache(maxsize=512)
def window_phases(
    ksize: Shape, in_size: Shape, out_size: Shape, stride: Shape, pad: Shape, dilate: Shape
) -> WindowPhases:
    """Returns the phases of images for windows.

    Args:
        ksize: Sizes of a window.
        in_size: Sizes of the image.
        out_size: Numbers of windows.
        stride: Distance between windows.
        pad: Padding before the image.
        dilate: Distance between the elements of a window.
    """
    offsets = [[i * d for i in range(k)] for k, d in zip(ksize, dilate, strict=True)]
    lengths = tuple([o[-1] // s + t for o, s, t in zip(offsets, stride, out_size, strict=True)])
    images: list[tuple[tuple[int | slice, ...], tuple[slice, ...]]] = []
    met = [sorted({i % s for i in o}) for o, s in zip(offsets, stride, strict=True)]
    for phase in product(*met):
        sizes = zip(phase, in_size, lengths, stride, pad, strict=True)
        ranges = [window_range(*each) for each in sizes]
        if all([windows.stop for windows, _ in ranges]):
            place = (*phase, _ALL, *[windows for windows, _ in ranges])
            images.append((place, tuple([positions for _, positions in ranges])))
    elements: list[tuple[Shape, tuple[int | slice, ...]]] = []
    for index in product(*map(range, ksize)):
        at = [divmod(o[i], s) for o, i, s in zip(offsets, index, stride, strict=True)]
        windows = [slice(m, m + t) for (m, _), t in zip(at, out_size, strict=True)]
        elements.append((index, (*[phase for _, phase in at], _ALL, *windows)))
    counts = [[len(range(m)[s]) for s, m in zip(p, in_size, strict=True)] for _, p in images]
    covers_image = sum(map(prod, counts)) == prod(in_size)
    return WindowPhases(stride, lengths, tuple(images), tuple(elements), covers_image)
