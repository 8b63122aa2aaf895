"""Average pooling in any number of dimensions."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.poolings import average_pooling_nd as operation
from chainer.core.autograd.variable import Variable, shape_of
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, IntTuple, Shape, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions._fixed_dimensions import fixed_dimensions, pooling_sections
from chainer.functions._spatial_dimensions import check_spatial_ndim
from chainer.functions.pooling._pooling import PoolingNode
from chainer.functions.rules import LinearMap


class AveragePoolingND(PoolingNode, LinearMap):
    """Average pooling in any number of dimensions.

    Args:
        ndim, ksize, stride, pad, cover_all: See :class:`~chainer.functions.MaxPoolingND`.
        pad_value (0 or None): With 0 positions in the padding count as zeros, with None they do not
            count.
    """

    accepts_opaque_arrays = True
    _out_size: Shape | None = None

    def __init__(
        self,
        ndim: int,
        ksize: IntTuple,
        stride: IntTuple | None = None,
        pad: IntTuple = 0,
        cover_all: bool = False,
        pad_value: int | None = 0,
    ) -> None:
        if pad_value not in (0, None):
            raise ValueError(f"pad_value must be either 0 or None, not {pad_value}.")
        super().__init__(ndim, ksize, stride, pad, cover_all)
        self.pad_value = pad_value

    @property
    def width(self) -> Array | None:
        """Divisors, of the shape of an output channel; None with ``pad_value=0``."""
        if self.pad_value == 0 or self._out_size is None:
            return None
        xp, node = self.xp, self.input_nodes[0]
        width = xp.ones((), node.dtype)
        for n, out, k, s, p in zip(self._in_size, self._out_size, *self.geometry, strict=True):
            # Positions of the windows relative to the first element of the image.
            starts = xp.arange(out) * s - p
            # How many positions of each window are inside the image, along this axis.
            inside = xp.minimum(starts + k, n) - xp.maximum(starts, 0)
            width = width[..., None] * inside.astype(node.dtype)
        return width

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self._in_size: Shape = x.shape[2:]
        out_size = self._out_size = self.pooled_size(self._in_size)
        self._kernel = operation.select(
            x, geometry=self.geometry, out_size=out_size, pad_value=self.pad_value
        )
        return (self._kernel.forward(x, out_size, self.geometry, self.pad_value),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy = grad_outputs[0]
        return (self._kernel.backward(gy, self._in_size, self.geometry, self.pad_value),)


@explained_keywords
def average_pooling_nd(
    x: VariableLike,
    ksize: IntTuple,
    stride: IntTuple | None = None,
    pad: IntTuple = 0,
    pad_value: int | None = 0,
) -> Variable:
    """N-dimensionally spatial average pooling function.

    It computes the mean of each window of the image.

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, d_1, ..., d_N)``, floating point.
        ksize (int or tuple of ints): Size of the pooling window.
        stride (int or tuple of ints or None): Stride of pooling applications; ``ksize`` if None.
        pad (int or tuple of ints): Spatial padding width.
        pad_value (0 or None): With 0 positions in the padding count as zeros, with None they do not
            count.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        InvalidType: If dtype or number of dimensions do not fit.
        ValueError: If the output would be empty, or for another ``pad_value``.

    .. note:: There is no ``cover_all`` mode as in :func:`max_pooling_nd`.

    Example:
        >>> x = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
        >>> F.average_pooling_nd(x, 3).array
        array([[[1., 4.]]], dtype=float32)
    """
    node = AveragePoolingND(len(shape_of(x)) - 2, ksize, stride, pad, pad_value=pad_value)
    return node.apply((x,))[0]


#: Texts about arguments and results, for the docstrings of the functions below.
_TEXTS = {
    "own": """\
pad_value (0 or None): With 0 the padding counts as zeros; with None it does not count. With any
        other value the function raises a ValueError.""",
}


@fixed_dimensions(average_pooling_nd, 1, pooling_sections, **_TEXTS)
@explained_keywords
def average_pooling_1d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """One-dimensional average pooling function: :func:`average_pooling_nd` for one spatial axis.

    Example:
        >>> x = np.array([[[1, 3, 2, 0, 4]]], np.float32)
        >>> F.average_pooling_1d(x, 2, pad=1)
        variable([[[0.5, 2.5, 2. ]]])
        >>> F.average_pooling_1d(x, 2, pad=1, pad_value=None)
        variable([[[1. , 2.5, 2. ]]])
    """
    check_spatial_ndim(x, 1)
    return average_pooling_nd(x, *args, **kwargs)


@fixed_dimensions(average_pooling_nd, 3, pooling_sections, **_TEXTS)
@explained_keywords
def average_pooling_3d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """Three-dimensional average pooling: :func:`average_pooling_nd` for three spatial axes.

    Example:
        >>> x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
        >>> F.average_pooling_3d(x, 2)
        variable([[[[[3.5]]]]])
    """
    check_spatial_ndim(x, 3)
    return average_pooling_nd(x, *args, **kwargs)
