"""Two-dimensional unpooling."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions.pooling._pooling import Pooling2DMixin
from chainer.functions.pooling.unpooling_nd import UnpoolingBase


class Unpooling2D(Pooling2DMixin, UnpoolingBase):
    """Two-dimensional unpooling.

    Args:
        ksize (int or pair of ints): Size of a window.
        stride (int or pair of ints): Distance between windows; ``ksize`` if None.
        pad (int or pair of ints): Padding.
        outsize (pair of ints): Size of the output; estimated if None.
        cover_all (bool): Whether the windows cover each position of the output.
    """

    def __init__(
        self,
        ksize: Any,
        stride: Any = None,
        pad: Any = 0,
        outsize: Any = None,
        cover_all: bool = True,
    ) -> None:
        self._setup_unpooling(2, ksize, stride, pad, outsize, cover_all)

    @property
    def outh(self) -> int | None:
        """Height of the output."""
        return None if self.outsize is None else self.outsize[0]

    @property
    def outw(self) -> int | None:
        """Width of the output."""
        return None if self.outsize is None else self.outsize[1]

    def _check_in_size(self, x_type: Any, expected: tuple[int, ...]) -> None:
        type_check.expect(x_type.shape[2] == expected[0], x_type.shape[3] == expected[1])


def unpooling_2d(
    x: Any,
    ksize: Any,
    stride: Any = None,
    pad: Any = 0,
    outsize: Any = None,
    cover_all: bool = True,
) -> Variable:
    """Inverse operation of pooling for 2d array.

    It spreads each element over its window, like :func:`deconvolution_2d` without parameters. Where
    windows overlap, elements add up.

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, h, w)``, floating point.
        ksize (int or pair of ints): Size of the pooling window.
        stride (int or pair of ints or None): Stride of pooling applications; ``ksize`` if None.
        pad (int or pair of ints): Spatial padding width.
        outsize (pair of ints or None): Expected output size (height, width). If None, it is
            estimated from the size of the input with :func:`~chainer.utils.get_deconv_outsize`.
        cover_all (bool): If True, the pooling windows are assumed to cover all of the output, which
            may be smaller than otherwise.

    Returns:
        ~chainer.Variable: Output variable.

    Raises:
        InvalidType: If dtype or shape do not fit; the pooling of ``outsize`` must have the size of
            ``x``.
        ValueError: If the output would be empty.

    Example:
        >>> x = np.array([[[[1, 2], [3, 4]]]], np.float32)
        >>> F.unpooling_2d(x, 2, cover_all=False).array
        array([[[[1., 1., 2., 2.],
                 [1., 1., 2., 2.],
                 [3., 3., 4., 4.],
                 [3., 3., 4., 4.]]]], dtype=float32)
    """
    return Unpooling2D(ksize, stride, pad, outsize, cover_all).apply((x,))[0]
