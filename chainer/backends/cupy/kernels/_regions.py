"""Base of the CUDA kernels of regions of interest."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy

from chainer.backends.cupy.compiler import compute_dtype, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array, Shape


@dataclass(frozen=True)
class Regions:
    """Regions of interest and the grid of bins in each.

    Attributes:
        shape: Shape of the images.
        rois: Regions.
        images: Number of the image of each region; None if it is the first column of ``rois``.
        out_size: Number of bins in both directions.
        scale: Factor from the coordinates of regions to pixels.
        ratio: Number of samples in each direction of a bin, None for one per pixel.
    """

    shape: Shape
    rois: Array
    images: Array | None
    out_size: tuple[int, int]
    scale: float
    ratio: tuple[int | None, int | None] = (None, None)

    @property
    def out_shape(self) -> Shape:
        """Shape of the output."""
        return (len(self.rois), self.shape[1], int(self.out_size[0]), int(self.out_size[1]))


class RegionKernel(CudaKernel):
    """Calls of the functions of ``roi_poolings.cu``.

    Attributes:
        in_order: Whether gradients are sums in the order of the regions.
    """

    source = "roi_poolings.cu"
    in_order: ClassVar[bool] = False

    def call(
        self, name: str, regions: Regions, *arguments: Array, threads: int | None = None
    ) -> None:
        """Calls a function.

        Args:
            name: Name of the function.
            regions: The regions.
            arguments: Its first arguments, of which the first one is an array.
            threads: Number of threads; by default one for each element of the output.
        """
        array = arguments[0]
        out_shape = regions.out_shape
        # Coordinates are read as the type of the arrays, whose gradients may have another one.
        rois = self.contiguous(regions.rois.astype(array.dtype, copy=False))
        images = regions.images
        if images is not None:
            images = self.contiguous(images.astype(numpy.int32, copy=False))
        count = max(prod(regions.shape), prod(out_shape))
        self.each(
            name,
            types_for(array.dtype, wide=is_wide(array) or count >= 1 << 30),
            prod(out_shape) if threads is None else threads,
            *arguments,
            rois,
            images,
            len(rois),
            *regions.shape,
            *out_shape[2:],
            float(regions.scale),
            *[0 if ratio is None else int(ratio) for ratio in regions.ratio],
        )

    def gradient(self, name: str, regions: Regions, gy: Array, chosen: Array | None) -> Array:
        """Returns the gradient of the images.

        Args:
            name: Name of the function.
            regions: The regions.
            gy: Gradient of the output.
            chosen: What was chosen in each bin, or None.
        """
        gx = self.xp.zeros(regions.shape, compute_dtype(gy.dtype))
        arrays = (self.contiguous(gy), chosen, gx)
        if self.in_order:
            batch, channels = regions.shape[:2]
            self.call(f"{name}_in_order", regions, *arrays, threads=batch * channels)
        else:
            self.call(name, regions, *arrays)
        return gx.astype(gy.dtype, copy=False)

    def pooled(self, name: str, regions: Regions, x: Array) -> Array:
        """Returns the output of a function that chooses nothing."""
        y = self.new(regions.out_shape, x.dtype)
        self.call(name, regions, self.contiguous(x), y)
        return y

    def chosen(
        self, name: str, regions: Regions, x: Array, *arguments: float
    ) -> tuple[Array, Array]:
        """Returns the output of a function, and what it chose in each bin."""
        y = self.new(regions.out_shape, x.dtype)
        numbers = self.new(y.shape, numpy.int32)
        self.call(name, regions, self.contiguous(x), y, numbers, *arguments)
        return y, numbers

    def gathered(self, name: str, regions: Regions, x: Array, chosen: Array) -> Array:
        """Returns the output of a function for what was chosen before."""
        y = self.new(regions.out_shape, x.dtype)
        self.call(name, regions, self.contiguous(x), chosen, y)
        return y
