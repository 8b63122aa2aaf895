"""Base of the CUDA kernels of regions of interest."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_long
from chainer.backends.operations.roi_poolings import RegionGrid, Regions
from chainer.core.typing import Array, Shape


@dataclass(frozen=True)
class PlacedRegions:
    """Regions of interest in images, and the grid of bins in each.

    Attributes:
        shape: Shape of the images.
        rois: Regions.
        images: Number of the image of each region; None if it is the first column of ``rois``.
        grid: The bins of each region.
    """

    shape: Shape
    rois: Array
    images: Array | None
    grid: RegionGrid

    @classmethod
    def of(cls, regions: Regions, shape: Shape) -> PlacedRegions:
        """Returns regions in images of a given shape."""
        return cls(shape, regions.rois, regions.images, regions.grid)

    @property
    def out_shape(self) -> Shape:
        """Shape of the output."""
        return (len(self.rois), self.shape[1], *map(int, self.grid.out_size))

    @property
    def wide(self) -> bool:
        """Whether positions in the images or the output need 64 bits."""
        return is_long(max(prod(self.shape), prod(self.out_shape)))

    @property
    def position_dtype(self) -> type[numpy.signedinteger[Any]]:
        """Type of the chosen positions: ``Index`` of the CUDA source."""
        return numpy.int64 if self.wide else numpy.int32


class RegionKernel(CudaKernel):
    """Calls of the functions of ``roi_poolings.cu``.

    Attributes:
        in_order: Whether gradients are sums in the order of the regions.
    """

    source = "roi_poolings.cu"
    in_order: ClassVar[bool] = False

    def call(
        self, name: str, regions: PlacedRegions, *arguments: Array, threads: int | None = None
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
        self.each(
            name,
            types_for(array.dtype, wide=regions.wide),
            prod(out_shape) if threads is None else threads,
            *arguments,
            rois,
            images,
            len(rois),
            *regions.shape,
            *out_shape[2:],
            float(regions.grid.scale),
            *[0 if ratio is None else int(ratio) for ratio in regions.grid.ratio],
        )

    def gradient(self, name: str, regions: PlacedRegions, gy: Array, chosen: Array | None) -> Array:
        """Returns the gradient of the images.

        Args:
            name: Name of the function.
            regions: The regions.
            gy: Gradient of the output.
            chosen: Position chosen in each bin, or None.
        """
        gx = self.xp.zeros(regions.shape, compute_dtype(gy.dtype))
        arrays = (self.contiguous(gy), self._positions(chosen, regions), gx)
        if self.in_order:
            batch, channels = regions.shape[:2]
            self.call(f"{name}_in_order", regions, *arrays, threads=batch * channels)
        else:
            self.call(name, regions, *arrays)
        return gx.astype(gy.dtype, copy=False)

    def pooled(self, name: str, regions: PlacedRegions, x: Array) -> Array:
        """Returns the output of a function that chooses nothing."""
        y = self.new(regions.out_shape, x.dtype)
        self.call(name, regions, self.contiguous(x), y)
        return y

    def chosen(
        self, name: str, regions: PlacedRegions, x: Array, *arguments: float
    ) -> tuple[Array, Array]:
        """Returns the output of a function, and what it chose in each bin."""
        y = self.new(regions.out_shape, x.dtype)
        numbers = self.new(y.shape, regions.position_dtype)
        self.call(name, regions, self.contiguous(x), y, numbers, *arguments)
        return y, numbers

    def gathered(self, name: str, regions: PlacedRegions, x: Array, chosen: Array) -> Array:
        """Returns the output of a function for what was chosen before."""
        y = self.new(regions.out_shape, x.dtype)
        self.call(name, regions, self.contiguous(x), self._positions(chosen, regions), y)
        return y

    def _positions(self, chosen: Array | None, regions: PlacedRegions) -> Array | None:
        """Returns positions in the type of the source.

        A derivative of several vectors at once may need more bits than the call before it.
        """
        if chosen is None:
            return None
        return self.contiguous(chosen.astype(regions.position_dtype, copy=False))


class RegionMeanKernel(RegionKernel):
    """Base of kernels that take the mean of each bin.

    Attributes:
        prefix: Beginning of the names of the CUDA functions.
    """

    prefix: ClassVar[str]

    def forward(self, x: Array, regions: Regions) -> tuple[Array, None]:
        return self.pooled(f"{self.prefix}_forward", PlacedRegions.of(regions, x.shape), x), None

    def backward(self, gy: Array, residual: None, regions: Regions, in_shape: Shape) -> Array:
        placed = PlacedRegions.of(regions, in_shape)
        return self.gradient(f"{self.prefix}_backward", placed, gy, None)

    def gather(self, x: Array, residual: None, regions: Regions) -> Array:
        # A mean is linear: its derivative is the function itself.
        return self.forward(x, regions)[0]


class RegionMaxKernel(RegionKernel):
    """Base of kernels that choose the maximum of each bin.

    Attributes:
        prefix: Beginning of the names of the CUDA functions.
        forward_arguments: Arguments of the forward function besides arrays and regions.
    """

    prefix: ClassVar[str]
    forward_arguments: ClassVar[tuple[float, ...]] = ()

    def forward(self, x: Array, regions: Regions) -> tuple[Array, Array]:
        placed = PlacedRegions.of(regions, x.shape)
        return self.chosen(f"{self.prefix}_forward", placed, x, *self.forward_arguments)

    def backward(self, gy: Array, chosen: Array, regions: Regions, in_shape: Shape) -> Array:
        placed = PlacedRegions.of(regions, in_shape)
        return self.gradient(f"{self.prefix}_backward", placed, gy, chosen)

    def gather(self, x: Array, chosen: Array, regions: Regions) -> Array:
        placed = PlacedRegions.of(regions, x.shape)
        return self.gathered(f"{self.prefix}_gather", placed, x, chosen)
