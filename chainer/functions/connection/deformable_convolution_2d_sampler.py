"""Deformable convolution: convolution whose filters sample the image at given displacements."""

from __future__ import annotations

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Array, ArrayModule, IntPair, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.conv import _pair as _pair
from chainer.core.utils.conv import as_sizes
from chainer.core.utils.type_check import InvalidType
from chainer.functions._errors import InvalidValue
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.cast import cast
from chainer.functions.array.pad import pad as pad_array
from chainer.functions.array.reshape import reshape
from chainer.functions.array.spatial_transformer_sampler import spatial_transformer_sampler
from chainer.functions.math.matmul import matmul


@explained_keywords
def deformable_convolution_2d_sampler(
    x: VariableLike,
    offset: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    stride: IntPair = 1,
    pad: IntPair = 0,
) -> Variable:
    r"""Two-dimensional deformable convolution function with given displacements.

    Like :func:`convolution_2d`, but element :math:`(k_y, k_x)` of the filter for output :math:`(i,
    j)` is multiplied by the image at the point :math:`(s_y i + k_y - p_y + \Delta y, s_x j + k_x -
    p_x + \Delta x)`, interpolated between pixels; outside the image is zero. It is differentiable
    with respect to the displacements, too.

    Args:
        x (:class:`~chainer.Variable` or array): Images of shape ``(n, c, h, w)``, floating point.
        offset (:class:`~chainer.Variable` or array): Displacements in pixels, of shape ``(n, 2 * kh
            * kw, oh, ow)`` and the dtype of ``x``: first :math:`\Delta x` for all elements of the
            filter, in row-major order, then :math:`\Delta y`.
        W (:class:`~chainer.Variable` or array): Filters of shape ``(oc, c, kh, kw)``, floating
            point.
        b (:class:`~chainer.Variable` or array): Bias of length ``oc`` and the dtype of the output
            (optional).
        stride (int or pair of ints): Stride of filter applications: vertical and horizontal.
        pad (int or pair of ints): Spatial padding width: vertical and horizontal.

    Returns:
        ~chainer.Variable: Output of shape ``(n, oc, oh, ow)``, in the dtype to which NumPy promotes
        ``x`` and ``W``.

    Raises:
        ValueError: If numbers of dimensions or channels do not fit, or ``stride`` or ``pad`` is not
            positive, or negative.
        InvalidType: If dtypes do not fit, or the numbers of samples.

    See: `Deformable Convolutional Networks <https://arxiv.org/abs/1703.06211>`_

    .. seealso:: :class:`~chainer.links.DeformableConvolution2D`

    Example:
        >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
        >>> W = np.array([[[[1, 0], [0, 0]]]], np.float32)
        >>> offset = np.zeros((1, 8, 2, 2), np.float32)
        >>> offset[0, 0] = 1  # the first element of the filter looks one pixel further right
        >>> F.deformable_convolution_2d_sampler(x, offset, W)
        variable([[[[1., 2.],
                    [4., 5.]]]])
    """
    x, offset, W = as_variable(x), as_variable(offset), as_variable(W)
    for name, variable in (("x", x), ("offset", offset), ("W", W)):
        if variable.ndim != 4:
            raise ValueError(f"{name} must have 4 dimensions, got shape {variable.shape}")
        if variable.dtype.kind in "biu":
            raise InvalidType(f"{name}.dtype.kind == f", f"{variable.dtype.kind} != f")
    out_channels, channels, kh, kw = W.shape
    n, elements, oh, ow = offset.shape
    if elements != 2 * kh * kw:
        raise ValueError(
            "The shape of the offset does not match the kernel size: "
            f"{elements} channels, expected 2 * {kh} * {kw}"
        )
    if x.shape[1] != channels:
        raise ValueError(f"x must have {channels} channels like W, got {x.shape[1]}")
    if b is not None and b.shape != (out_channels,):
        raise InvalidValue(f"b.shape == ({out_channels},)", f"{b.shape}")
    sizes = as_sizes(stride, 2, "stride"), as_sizes(pad, 2, "pad", least=0)
    dtype = x.dtype
    if is_half(dtype) and offset.dtype == dtype:
        # Halves cannot tell the points of a large image apart.
        x, offset = cast(x, numpy.float32), cast(offset, numpy.float32)
    shift = 0
    if 1 in x.shape[2:]:
        # The sampler measures in widths of the image, which are zero for one pixel. A border of
        # zeros changes nothing, as the image is zero outside.
        x, shift = pad_array(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "constant"), 1
    with offset.device:
        scale, start = _coordinates(
            offset.xp, x.shape[2:], (kh, kw), (oh, ow), *sizes, shift, offset.dtype
        )
    shape = (n, 2, kh * kw, oh * ow)
    grid = reshape(offset, shape) * _spread(offset, scale, shape) + _spread(offset, start, shape)
    samples = cast(spatial_transformer_sampler(x, grid), dtype)
    # Of each sample of the batch, one product of matrices.
    rows = (out_channels, channels * kh * kw)
    y = matmul(reshape(W, rows), reshape(samples, (n, rows[1], oh * ow)))
    y = reshape(y, (n, out_channels, oh, ow))
    return y if b is None else y + broadcast_to(reshape(b, (1, -1, 1, 1)), y.shape)


def _spread(like: Variable, array: Array, shape: tuple[int, ...]) -> Array:
    return like.xp.broadcast_to(array, shape)


def _coordinates(
    xp: ArrayModule,
    size: tuple[int, ...],
    ksize: tuple[int, int],
    out_size: tuple[int, int],
    stride: tuple[int, ...],
    pad: tuple[int, ...],
    shift: int,
    dtype: numpy.dtype,
) -> tuple[Array, Array]:
    """Returns what makes coordinates of displacements: a factor and a summand.

    The coordinates are as in :func:`spatial_transformer_sampler`: -1 for the first and 1 for the
    last pixel.

    Returns:
        tuple: The factor, of shape ``(2, 1, 1)``, and the summand, of shape ``(2, kh * kw, oh *
        ow)``: the coordinates without displacement. Horizontally first.
    """
    axes = []
    for axis in (1, 0):
        element = xp.arange(ksize[axis], dtype=dtype)
        element = element if axis else element[:, None]
        element = xp.broadcast_to(element, ksize).reshape((-1, 1))
        place = xp.arange(out_size[axis], dtype=dtype) * stride[axis]
        place = place if axis else place[:, None]
        place = xp.broadcast_to(place, out_size).reshape((1, -1))
        axes.append(element + place + (shift - pad[axis]))
    factors = [2 / (size[1] - 1), 2 / (size[0] - 1)]
    scale = xp.asarray(factors, dtype=dtype).reshape((2, 1, 1))
    return scale, xp.stack(axes) * scale - 1
