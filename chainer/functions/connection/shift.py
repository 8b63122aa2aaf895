"""Shift of channels."""

from __future__ import annotations

from itertools import product
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, IntPair, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.conv import _pair as _pair
from chainer.core.utils.conv import pair
from chainer.functions._spatial_dimensions import component
from chainer.functions.rules import LinearMap


class Shift(LinearMap):
    """Shift of groups of channels in all directions.

    Args:
        ksize (int or pair of ints): Number of directions, odd.
        dilate (int or pair of ints): Distance of a shift by one.
    """

    type_check_key = ("ksize",)
    batch_inputs = (0,)
    kh = component("ksize", 0, "Number of directions, vertically.")
    kw = component("ksize", 1, "Number of directions, horizontally.")
    dy = component("dilate", 0, "Vertical distance of a shift by one.")
    dx = component("dilate", 1, "Horizontal distance of a shift by one.")

    def __init__(self, ksize: Any = 3, dilate: Any = 1) -> None:
        self.ksize = pair(ksize, "ksize")
        self.dilate = pair(dilate, "dilate")
        for name, size in zip(("kh", "kw"), self.ksize, strict=True):
            if size % 2 != 1:
                raise ValueError(f"{name} must be odd, got {size}")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(
            in_types[0].dtype.kind == "f",
            in_types[0].ndim == 4,
            in_types[0].shape[1] >= self.ksize[0] * self.ksize[1],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        return (self._shifted(x, 1),)

    def _shifted(self, x: Array, sign: int) -> Any:
        kh, kw = self.ksize
        offsets = list(product(range(-(kh // 2), kh // 2 + 1), range(-(kw // 2), kw // 2 + 1)))
        # The group that stays, and channels left over, come last.
        middle = len(offsets) // 2
        offsets[middle], offsets[-1] = offsets[-1], offsets[middle]
        size = x.shape[1] // len(offsets)
        # Pixels that nothing is shifted to stay zero.
        y = self.xp.zeros_like(x)
        for i, offset in enumerate(offsets):
            channels = slice(i * size, (i + 1) * size if i + 1 < len(offsets) else None)
            pairs = [
                _slices(sign * d * o, n)
                for d, o, n in zip(self.dilate, offset, x.shape[2:], strict=True)
            ]
            target = (slice(None), channels, *[to for to, _ in pairs])
            y[target] = x[(slice(None), channels, *[source for _, source in pairs])]
        return y

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        return (self._shifted(grad_outputs[0], -1),)


def _slices(offset: int, size: int) -> tuple[slice, slice]:
    """Returns where elements shifted by an offset go, and where they come from."""
    if offset >= 0:
        return slice(min(offset, size), size), slice(0, max(size - offset, 0))
    return slice(0, max(size + offset, 0)), slice(min(-offset, size), size)


@explained_keywords
def shift(x: VariableLike, ksize: IntPair = 3, dilate: IntPair = 1) -> Variable:
    """Shift function.

    The channels are divided into ``kh * kw`` groups, and each group is shifted by another offset
    within a window of this size. Positions that nothing is shifted to become zero. See: `Shift: A
    Zero FLOP, Zero Parameter Alternative to Spatial Convolutions
    <https://arxiv.org/abs/1711.08141>`_

    Args:
        x (~chainer.Variable or array): Input of shape ``(n, c, h, w)`` with ``c >= kh * kw``.
        ksize (int or pair of ints): Size of filters (a.k.a. kernels), odd.
        dilate (int or pair of ints): Dilation factor: distance of a shift by one.

    Returns:
        ~chainer.Variable: Output of the same shape as ``x``.

    Raises:
        InvalidType: If dtype or shape do not fit.
        ValueError: If ``ksize`` is not odd.

    Example:
        >>> x = np.ones((1, 9, 2, 2), np.float32)
        >>> F.shift(x).array[0, 0]  # the first group moves to the upper left
        array([[1., 0.],
               [0., 0.]], dtype=float32)
    """
    return Shift(ksize, dilate).apply((x,))[0]
