"""Initializers of convolutions and deconvolutions that resize images by interpolation."""

from __future__ import annotations

import functools
from typing import ClassVar

import numpy

from chainer.core.arrays.backend import get_device_from_array
from chainer.core.typing import Array, DTypeLike
from chainer.links.errors import InvalidValueError
from chainer.links.initializer import Initializer


def _linear_filter(size: int, ndim: int) -> numpy.ndarray:
    """Returns the filter of linear interpolation, whose middle is one.

    Args:
        size: Length of each axis.
        ndim: Number of axes.
    """
    factor = (size + 1) // 2
    # An even filter has its middle between two elements.
    center = factor - 1 if size % 2 == 1 else factor - 0.5
    weights = 1 - numpy.abs(numpy.arange(size) - center) / factor
    return functools.reduce(numpy.multiply.outer, [weights] * ndim)


class _Resampling(Initializer):
    """Fills the weight of a convolution with one interpolation filter for each channel."""

    _normalize: ClassVar[bool]

    def __init__(self, interpolation: str = "linear", dtype: DTypeLike = None) -> None:
        if interpolation != "linear":
            raise ValueError(f"Unsupported interpolation method: {interpolation}")
        super().__init__(dtype)

    def __call__(self, array: Array) -> None:
        """Initializes given array in place.

        Args:
            array (array): Weight of shape ``(c, c, k, ..., k)`` or, of a depthwise convolution,
                ``(c, 1, k, ..., k)``.
        """
        self._check_dtype(array)
        if array.ndim < 3:
            raise InvalidValueError(f"the weight must have spatial axes, got shape {array.shape}")
        channels, inputs, size, *others = array.shape
        for other in others:
            if other != size:
                raise ValueError(f"ksize must be all same: {size} != {other}")
        if inputs not in (1, channels):
            raise InvalidValueError(
                f"the weight must have as many inputs as outputs or one, got shape {array.shape}"
            )
        values = _linear_filter(size, array.ndim - 2)
        if self._normalize:
            values /= values.sum()
        filled = numpy.zeros(array.shape, array.dtype)
        own = numpy.arange(channels)
        filled[own, own if inputs == channels else 0] = values
        array[...] = get_device_from_array(array).send(filled)


class UpsamplingDeconvFilter(_Resampling):
    """Initializes array with the filter of a deconvolution that enlarges images.

    A deconvolution with such a weight of ``ksize`` elements, a stride of ``(ksize + 1) // 2`` and
    without bias interpolates between the pixels. The array may have any number of spatial axes.

    Reference: Long et al., https://arxiv.org/abs/1411.4038

    Args:
        interpolation (str): Interpolation method; only ``'linear'`` is supported.
        dtype: Data type of the initialized arrays; None for any.

    Raises:
        ValueError: If the interpolation method is unknown; when called with an array whose spatial
            axes have different lengths.

    Example:
        >>> W = np.empty((1, 1, 3, 3), np.float32)
        >>> chainer.initializers.UpsamplingDeconvFilter()(W)
        >>> W[0, 0]
        array([[0.25, 0.5 , 0.25],
               [0.5 , 1.  , 0.5 ],
               [0.25, 0.5 , 0.25]], dtype=float32)
    """

    _normalize = False


class DownsamplingConvFilter(_Resampling):
    """Initializes array with the filter of a convolution that shrinks images.

    A convolution with such a weight of ``ksize`` elements, a stride of ``(ksize + 1) // 2`` and
    without bias takes weighted means of the pixels. The array may have any number of spatial axes.

    Takes the same arguments as :class:`UpsamplingDeconvFilter`.

    Reference: Long et al., https://arxiv.org/abs/1411.4038

    Example:
        >>> W = np.empty((1, 1, 3), np.float32)
        >>> chainer.initializers.DownsamplingConvFilter()(W)
        >>> W
        array([[[0.25, 0.5 , 0.25]]], dtype=float32)
    """

    _normalize = True
