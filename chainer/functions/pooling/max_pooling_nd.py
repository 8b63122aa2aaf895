"""Max pooling in any number of dimensions."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.poolings import max_pooling_nd as operation
from chainer.backends.operations.poolings import window_indexing
from chainer.core.autograd.batching import BatchingError, is_batched
from chainer.core.autograd.variable import Variable, shape_of
from chainer.core.lazy import lazy_module
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, IntTuple, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions._fixed_dimensions import fixed_dimensions, pooling_sections
from chainer.functions._spatial_dimensions import check_spatial_ndim
from chainer.functions.pooling._pooling import PoolingNode


class MaxPoolingND(PoolingNode):
    """Max pooling in any number of dimensions.

    Args:
        ndim (int): Number of spatial dimensions.
        ksize (int or tuple of ints): Size of a window.
        stride (int or tuple of ints): Distance between windows; ``ksize`` if None.
        pad (int or tuple of ints): Padding.
        cover_all (bool): Whether each position of the input is covered.
        return_indices (bool): Whether the positions of the maxima are found at once.

    Attributes:
        indexes: Row-major position of each maximum in its window; found when it is asked for.
    """

    accepts_opaque_arrays = True
    retained_inputs = (0,)
    retained_outputs = (0,)
    _indexes: Array | None = None

    @property
    def indexes(self) -> Array | None:  # documented above
        if self._indexes is None and self.inputs is not None:
            (x,), (y,) = self.retained_input_arrays, self.retained_output_arrays
            self._indexes = self._find(x, y)
        return self._indexes

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        out_size = self.pooled_size(x.shape[2:])
        self._kernel = operation.select(x, geometry=self.geometry, out_size=out_size)
        y, self._residual = self._kernel.forward(x, out_size, self.geometry)
        if self.return_indices:
            self._indexes = self._find(x, y)
        return (y,)

    def _find(self, x: Array, y: Array) -> Array:
        return window_indexing.select(x, geometry=self.geometry).find(x, y, self.geometry)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,), (y,) = self.retained_input_arrays, self.retained_output_arrays
        return (self._kernel.backward(x, y, grad_outputs[0], self._residual, self.geometry),)

    def jvp(self, targets: Indexes, tangents: Arrays) -> Arrays:
        # The derivative picks the elements of the tangent at the positions of the maxima.
        kernel: Any = window_indexing.select(tangents[0], geometry=self.geometry)
        return (kernel.gather(tangents[0], self.indexes, self.geometry),)


@explained_keywords
def max_pooling_nd(
    x: VariableLike,
    ksize: IntTuple,
    stride: IntTuple | None = None,
    pad: IntTuple = 0,
    cover_all: bool = True,
    return_indices: bool = False,
) -> Variable | tuple[Variable, Array]:
    """N-dimensionally spatial max pooling function.

    It computes the maximum of each window of the image. Positions in the padding count as minus
    infinity. If an element is the first maximum of a window (in row-major order), the gradient of
    the window flows to it.

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, d_1, ..., d_N)``, floating point.
        ksize (int or tuple of ints): Size of the pooling window.
        stride (int or tuple of ints or None): Stride of pooling applications; ``ksize`` if None.
        pad (int or tuple of ints): Spatial padding width.
        cover_all (bool): If True, all spatial locations are pooled into some output pixels. It may
            make the output size larger.
        return_indices (bool): If True, the pooling indices are returned as well: the position of
            the maximum within its window.

    Returns:
        ~chainer.Variable or tuple: The output, or the tuple of it and the array of indices.

    Raises:
        InvalidType: If dtype or number of dimensions do not fit.
        ValueError: If the output would be empty.

    Example:
        >>> x = np.arange(12, dtype=np.float32).reshape(1, 1, 12)
        >>> F.max_pooling_nd(x, 5).array
        array([[[ 4.,  9., 11.]]], dtype=float32)
    """
    node = MaxPoolingND(len(shape_of(x)) - 2, ksize, stride, pad, cover_all, return_indices)
    return apply_max_pooling(node, x)


def apply_max_pooling(
    node: MaxPoolingND, x: VariableLike
) -> Variable | tuple[Variable, Array | None]:
    """Applies a max pooling and returns the output, with the indices if they are wanted."""
    y = node.apply((x,))[0]
    if not node.return_indices:
        return y
    if is_batched(y):
        raise BatchingError("indices of a pooling are arrays, which differ from sample to sample")
    return y, node.indexes


#: Texts about arguments and results, for the docstrings of the functions below.
_TEXTS = {
    "own": """\
cover_all (bool): If True, all spatial locations are pooled into some output pixels.
    return_indices (bool): If True, the indices of the maxima in their windows are returned too.""",
    "or_tuple": " or tuple",
    "indices": """ With ``return_indices`` a pair of it and an
    integer array of its shape: row-major positions in the windows, padding included.""",
}


@fixed_dimensions(max_pooling_nd, 1, pooling_sections, **_TEXTS)
@explained_keywords
def max_pooling_1d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """One-dimensional max pooling function: :func:`max_pooling_nd` for one spatial axis.

    Example:
        >>> x = np.array([[[1, 3, 2, 0, 4]]], np.float32)
        >>> F.max_pooling_1d(x, 2)
        variable([[[3., 2., 4.]]])
        >>> F.max_pooling_1d(x, 2, return_indices=True)[1]
        array([[[1, 0, 0]]])
    """
    check_spatial_ndim(x, 1)
    return max_pooling_nd(x, *args, **kwargs)


@fixed_dimensions(max_pooling_nd, 3, pooling_sections, **_TEXTS)
@explained_keywords
def max_pooling_3d(x: VariableLike, *args: Any, **kwargs: Any) -> Any:
    """Three-dimensional max pooling function: :func:`max_pooling_nd` for three spatial axes.

    Example:
        >>> x = np.arange(64, dtype=np.float32).reshape(1, 1, 4, 4, 4)
        >>> F.max_pooling_3d(x, (2, 4, 4))
        variable([[[[[31.]],
        <BLANKLINE>
                    [[63.]]]]])
    """
    check_spatial_ndim(x, 3)
    return max_pooling_nd(x, *args, **kwargs)


# Release 7 defines max_pooling_2d here.
__getattr__, __dir__ = lazy_module(
    globals(), {"max_pooling_2d": "chainer.functions.pooling.max_pooling_2d"}
)
