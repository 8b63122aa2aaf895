"""Base of the poolings of any number of dimensions."""

from __future__ import annotations

from typing import ClassVar

from chainer.backends.operations.poolings import PoolingGeometry, pooling_size
from chainer.core.misuse import warn_once
from chainer.core.typing import IntTuple, Shape
from chainer.core.utils import type_check
from chainer.core.utils.conv import as_sizes
from chainer.functions._errors import InvalidValue, expect_as
from chainer.functions._spatial_dimensions import (
    HEIGHT_AND_WIDTH,
    PlanarAttributes,
    WindowAttributes,
    check_out_size,
    component,
)
from chainer.functions.rules import PiecewiseLinearFunction


class PoolingNode(WindowAttributes, PiecewiseLinearFunction):
    """Function of sliding windows of an image.

    Takes the same arguments as :class:`~chainer.functions.MaxPoolingND`.

    Attributes:
        geometry: Where the windows are.
    """

    type_check_key = ("ndim",)
    geometry: PoolingGeometry
    axis_names: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        ndim: int,
        ksize: IntTuple,
        stride: IntTuple | None = None,
        pad: IntTuple = 0,
        cover_all: bool = True,
        return_indices: bool = False,
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
        self.return_indices = return_indices

    @property
    def ksize(self) -> Shape:
        """Size of a window."""
        return self.geometry.ksize

    @property
    def is_cudnn_used(self) -> bool:
        """Whether a kernel of cuDNN computes the pooling; False before the node is applied."""
        return type(self._kernel).__module__.startswith("chainer.backends.cupy.cudnn")

    batch_inputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        # Release 7 raised a ValueError in max_pooling_2d and an InvalidType elsewhere.
        expect_as(InvalidValue, in_types[0].ndim == 2 + self.ndim)

    def pooled_size(self, in_size: Shape) -> Shape:
        """Returns the number of windows in each dimension.

        Raises:
            ValueError: If there is none.
        """
        size, _, padding = self.geometry
        if any(padding) and any([wide >= window for wide, window in zip(padding, size)]):
            warn_once(
                "padding of a pooling",
                type(self).__name__,
                f"pad should be below ksize, got pad {padding} and ksize {size}: the first windows "
                "have nothing but padding",
            )
        out_size = pooling_size(self.geometry, in_size, self.cover_all)
        check_out_size(out_size, self.axis_names)
        return out_size


class TwoDimensionalPooling(PlanarAttributes, PoolingNode):
    """Attributes that two-dimensional poolings have for their geometry."""

    axis_names = HEIGHT_AND_WIDTH

    kh = component("ksize", 0, "Height of a window.")
    kw = component("ksize", 1, "Width of a window.")

    def __init__(
        self,
        ksize: IntTuple,
        stride: IntTuple | None = None,
        pad: IntTuple = 0,
        cover_all: bool = True,
        return_indices: bool = False,
    ) -> None:
        super().__init__(2, ksize, stride, pad, cover_all, return_indices)
