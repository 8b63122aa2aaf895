"""What poolings of any number of dimensions have in common."""

from __future__ import annotations

from typing import ClassVar

from chainer.backends.operations.poolings import PoolingGeometry, pooling_size
from chainer.core.typing import IntTuple, Shape
from chainer.core.utils import type_check
from chainer.core.utils.conv import as_sizes
from chainer.functions._spatial_dimensions import (
    HEIGHT_AND_WIDTH,
    PlanarAttributes,
    WindowAttributes,
    check_out_size,
)
from chainer.functions.rules import PiecewiseLinearFunction


class PoolingNode(WindowAttributes, PiecewiseLinearFunction):
    """Function of sliding windows of an image.

    Args:
        ndim: Number of spatial dimensions.
        ksize: Size of a window.
        stride: Distance between windows; ``ksize`` if None.
        pad: Padding.
        cover_all: Whether each position of the input is covered.

    Attributes:
        geometry: Where the windows are.
    """

    type_check_key = ("ndim",)
    geometry: PoolingGeometry
    axis_names: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, ndim: int, ksize: IntTuple, stride: IntTuple | None, pad: IntTuple, cover_all: bool
    ) -> None:
        if ndim <= 0:
            raise ValueError("pooling operation requires at least one spatial dimension.")
        self.ndim = ndim
        size = as_sizes(ksize, ndim, "ksize")
        self.geometry = PoolingGeometry(
            size,
            size if stride is None else as_sizes(stride, ndim, "stride"),
            as_sizes(pad, ndim, "pad", least=0),
        )
        self.cover_all = cover_all

    @property
    def ksize(self) -> Shape:
        """Size of a window."""
        return self.geometry.ksize

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(
            in_types.size() == 1,
            in_types[0].dtype.kind == "f",
            in_types[0].ndim == 2 + self.ndim,
        )

    def pooled_size(self, in_size: Shape) -> Shape:
        """Returns the number of windows in each dimension.

        Raises:
            ValueError: If there is none.
        """
        out_size = pooling_size(self.geometry, in_size, self.cover_all)
        check_out_size(out_size, self.axis_names)
        return out_size


class TwoDimensionalPooling(PlanarAttributes, PoolingNode):
    """Attributes that two-dimensional poolings have for their geometry."""

    axis_names = HEIGHT_AND_WIDTH

    @property
    def kh(self) -> int:
        """Height of a window."""
        return self.geometry.ksize[0]

    @property
    def kw(self) -> int:
        """Width of a window."""
        return self.geometry.ksize[1]
