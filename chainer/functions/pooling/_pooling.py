"""What poolings of any number of dimensions have in common."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.utils.conv import as_sizes, get_conv_outsize

Sizes = tuple[int, ...]


class PoolingBase(FunctionNode):
    """Function of sliding windows of an image.

    Attributes:
        ndim: Number of spatial dimensions.
        ksize: Size of a window.
        stride: Distance between windows.
        pad: Padding.
        cover_all: Whether each position of the input is covered.
    """

    type_check_key = ("ndim",)

    def _setup(self, ndim: int, ksize: Any, stride: Any, pad: Any, cover_all: bool) -> None:
        if ndim <= 0:
            raise ValueError("pooling operation requires at least one spatial dimension.")
        self.ndim = ndim
        self.ksize = as_sizes(ksize, ndim, "ksize")
        self.stride = self.ksize if stride is None else as_sizes(stride, ndim, "stride")
        self.pad = as_sizes(pad, ndim, "pad", least=0)
        self.cover_all = cover_all

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(
            in_types.size() == 1,
            in_types[0].dtype.kind == "f",
            in_types[0].ndim == 2 + self.ndim,
        )

    def _out_size(self, in_size: Sizes) -> Sizes:
        """Returns the number of windows in each dimension."""
        out_size = tuple(
            [
                get_conv_outsize(n, k, s, p, self.cover_all)
                for n, k, s, p in zip(in_size, self.ksize, self.stride, self.pad, strict=True)
            ]
        )
        if min(out_size) <= 0:
            self._refuse(out_size)
        return out_size

    def _refuse(self, out_size: Sizes) -> None:
        raise ValueError(f"Output sizes should be positive. Actual: {out_size}")


class Pooling2DMixin:
    """Names that two-dimensional poolings have for their geometry."""

    ksize: Sizes
    stride: Sizes
    pad: Sizes

    @property
    def kh(self) -> int:
        """Height of a window."""
        return self.ksize[0]

    @property
    def kw(self) -> int:
        """Width of a window."""
        return self.ksize[1]

    @property
    def sy(self) -> int:
        """Vertical stride."""
        return self.stride[0]

    @property
    def sx(self) -> int:
        """Horizontal stride."""
        return self.stride[1]

    @property
    def ph(self) -> int:
        """Vertical padding."""
        return self.pad[0]

    @property
    def pw(self) -> int:
        """Horizontal padding."""
        return self.pad[1]

    def _refuse(self, out_size: Sizes) -> None:
        for name, size in zip(("Height", "Width"), out_size, strict=True):
            if size <= 0:
                raise ValueError(f"{name} in the output should be positive. Actual: {size}")
