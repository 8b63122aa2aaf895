"""Where images with the channels last are faster than oneDNN's blocks of 8 or 16 channels.

oneDNN fills the last block up with zeros, and computes with them: 20 channels take as long as 32
with AVX-512, and as long as 24 with AVX2, in convolutions and in all passes over their results.
With the channels last nothing is filled up.
"""

from __future__ import annotations

import math

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.library import HAS_AVX512
from ideep4py.math_mode import is_exact

#: Channels in a block: a vector of float32.
_BLOCK = 16 if HAS_AVX512 else 8

#: Images of so few channels are read without filling them up.
_FEW_CHANNELS = 4

#: Least share of multiplications with blocks to those without. Measured with one thread on a Xeon
#: (AVX-512), 3 x 3 filters, 8 to 100 channels: 1.44 is 1.1 times as fast with the channels last,
#: 1.78 1.3 times, 2.05 1.4 times. At 1 (no zeros) both take turns in being faster. At 1.25 the gain
#: is lost again by batch normalizations, which are slower with the channels last.
#: With AVX2, 20 and 50 channels (1.34) and 5 x 5 filters: forward 1.2, gradient of the images 1.5
#: and of the filters 1.2 times as fast (AMD EPYC, one thread, 64 images of 12 x 12).
_SHARE = 1.3


def _filled(channels: int) -> float:
    """Channels of the blocks, as a multiple of the channels."""
    if channels <= _FEW_CHANNELS:
        return 1.0
    return -(-channels // _BLOCK) * _BLOCK / channels


def suits(given: L.Layout, groups: int, w: tuple[int, ...]) -> bool:
    """Whether a convolution or one of its gradients should have the channels last.

    Filters of one tap gain little. They keep the layout of what they are given.

    Args:
        given: layout of the input, or of the gradient of the output.
        groups: of the convolution.
        w: shape of the filters.
    """
    if (
        groups != 1
        or given.data_type != C.F32
        or not is_exact()
        or _filled(w[0]) * _filled(w[1]) < _SHARE
    ):
        return False
    return math.prod(w[2:]) > 1 or given is layout(given.shape, given.data_type)


def layout(shape: tuple[int, ...], data_type: int) -> L.Layout:
    """The layout of images (N, C, size...) with the channels last."""
    _, channels, *size = shape
    spatial = (channels * stride for stride in L.row_major_strides(tuple(size)))
    return L.strided(shape, (channels * math.prod(size), 1, *spatial), data_type)


def outside(inner: L.Layout) -> L.Layout:
    """The layout of an array outside of a primitive that has it with the channels last.

    With one channel, or one position, row-major memory is the same. oneDNN finds its fast code only
    by the strides of :func:`layout`, and arrays need no copy if they are called row-major.
    """
    _, channels, *size = inner.shape
    if channels == 1 or math.prod(size) == 1:
        return L.dense(inner.shape, inner.data_type)
    return inner


def has_fast_code(implementation: str) -> bool:
    """Whether oneDNN's code of this name is compiled for the shapes, not a loop for all shapes."""
    return implementation.startswith(("brg", "jit"))
