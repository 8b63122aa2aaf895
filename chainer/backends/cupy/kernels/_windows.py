"""Sliding windows over images, in the form that the CUDA sources take."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy

from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels._base import CudaKernel, as_argument, is_wide
from chainer.core.typing import Array, Shape

#: The structure ``Geometry`` of ``windows.cu``.
_GEOMETRY = numpy.dtype(
    [(name, "<i4", 3) for name in ("in", "out", "size", "stride", "pad", "dilate")]
)
_MAX_NDIM = 3
# The sources count the elements of a window in 32 bits.
_MAX_ELEMENTS = 2**31 - 1


# Filling the structure takes longer than launching a kernel, so that each one is made once.
@lru_cache(maxsize=4096)
def window_record(
    in_size: Shape, out_size: Shape, ksize: Shape, stride: Shape, pad: Shape, dilate: Shape = ()
) -> Array:
    """Returns the structure that describes windows; kernels get it by value.

    Args:
        in_size: Spatial size of the images that the windows are on.
        out_size: Number of windows in each dimension.
        ksize: Size of a window.
        stride: Distance between neighboring windows.
        pad: Padding in front of the images.
        dilate: Distance between neighboring elements of a window; 1 if empty.

    Raises:
        OverflowError: If positions in a window need more than 32 bits.
    """
    if prod(ksize) > _MAX_ELEMENTS:
        raise OverflowError(
            f"ksize: windows of CUDA kernels have at most {_MAX_ELEMENTS} elements, got {ksize}"
        )
    # The sources know three dimensions only: missing ones have length 1 and come first.
    missing = _MAX_NDIM - len(ksize)
    record = numpy.zeros((), _GEOMETRY)
    for name, sizes, neutral in (
        ("in", in_size, 1),
        ("out", out_size, 1),
        ("size", ksize, 1),
        ("stride", stride, 1),
        ("pad", pad, 0),
        ("dilate", dilate or (1,) * len(ksize), 1),
    ):
        record[name] = (neutral,) * missing + tuple(sizes)
    return as_argument(record)


class WindowKernel(CudaKernel):
    """Base of the kernels on functions of ``windows.cu``."""

    source = "windows.cu"

    def call(self, name: str, out: Array, *args: Any, patches: Array | None = None) -> None:
        """Calls a function with one thread for each element of ``out``.

        Args:
            name: Name of the function.
            out: Array that is written.
            args: Arguments of the function, arrays or structures.
            patches: The array of patches among them, which may have a dtype of its own.
        """
        other = out if patches is None else patches
        arrays = [arg for arg in args if getattr(arg, "ndim", 0) > 0]
        types = types_for(out.dtype, wide=is_wide(out, *arrays), P=other.dtype)
        self.each(name, types, out.size, *args)
