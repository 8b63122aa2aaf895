"""Sliding windows over images, as the CUDA sources take them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy

from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels._base import CudaKernel, as_argument, is_wide
from chainer.core.arrays.windows import Sizes

#: The structure Geometry of the source.
_GEOMETRY = numpy.dtype(
    [(name, "<i4", 3) for name in ("in", "out", "size", "stride", "pad", "dilate")]
)
_MOST_AXES = 3


@lru_cache(maxsize=4096)
def window_record(
    in_size: Sizes, out_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes = ()
) -> Any:
    """Returns the structure that describes windows; it is passed to kernels by value."""
    missing = _MOST_AXES - len(ksize)
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
    """What the kernels below share."""

    source = "windows.cu"

    def call(self, name: str, out: Any, *args: Any, patches: Any = None) -> None:
        """Calls a function with one thread for each element of ``out``."""
        other = out if patches is None else patches
        arrays = [arg for arg in args if getattr(arg, "ndim", 0) > 0]
        types = types_for(out.dtype, wide=is_wide(out, *arrays), P=other.dtype)
        self.each(name, types, out.size, *args)
