"""Convolutions that the tests of cuDNN try; read by a program without pytest as well."""

from __future__ import annotations

from dataclasses import dataclass

from chainer.backends.operations.convolutions import ConvolutionGeometry

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """A convolution.

    Attributes:
        name: Name.
        x: Shape of the input.
        W: Shape of the weight.
        stride: Distance between windows.
        pad: Padding.
        dilate: Distance between the elements of a window.
        groups: Number of groups.
        cover_all: Whether each position of the input is covered.
    """

    name: str
    x: Sizes
    W: Sizes
    stride: Sizes
    pad: Sizes
    dilate: Sizes
    groups: int = 1
    cover_all: bool = False

    @property
    def geometry(self) -> ConvolutionGeometry:
        """Geometry, as kernels take it."""
        return ConvolutionGeometry(self.stride, self.pad, self.dilate, self.groups)

    @property
    def y(self) -> Sizes:
        """Shape of the output."""
        sizes = []
        for n, k, s, p, d in zip(
            self.x[2:], self.W[2:], self.stride, self.pad, self.dilate, strict=True
        ):
            extent = (k - 1) * d + 1
            more = s - 1 if self.cover_all else 0
            sizes.append((n + 2 * p - extent + more) // s + 1)
        return (self.x[0], self.W[0], *sizes)


SAMPLES = [
    Sample("plain", (2, 3, 6, 5), (4, 3, 3, 3), (2, 2), (1, 1), (1, 1)),
    Sample("pointwise", (4, 16, 7, 7), (24, 16, 1, 1), (1, 1), (0, 0), (1, 1)),
    Sample("pointwise-stride", (4, 16, 7, 7), (24, 16, 1, 1), (2, 2), (0, 0), (1, 1)),
    Sample("one-pixel", (4, 16, 1, 1), (24, 16, 1, 1), (1, 1), (0, 0), (1, 1)),
    Sample("groups", (2, 4, 7, 6), (6, 2, 3, 2), (1, 1), (1, 0), (2, 2), 2),
    Sample("depthwise", (2, 3, 6, 5), (6, 1, 3, 3), (2, 2), (1, 1), (1, 1), 3),
    Sample("dilate", (2, 3, 9, 9), (4, 3, 3, 2), (1, 1), (1, 1), (2, 2)),
    Sample("cover-all", (2, 3, 6, 5), (4, 3, 3, 3), (2, 2), (1, 1), (1, 1), 1, True),
    Sample("cover-all-uneven", (2, 3, 10, 7), (4, 3, 3, 3), (3, 2), (0, 0), (1, 1), 1, True),
    Sample("wide-padding", (2, 3, 4, 4), (4, 3, 3, 3), (1, 1), (3, 3), (1, 1)),
    Sample("one-dimension", (2, 3, 8), (2, 3, 3), (2,), (1,), (1,)),
    Sample("one-dimension-cover", (2, 3, 9), (2, 3, 2), (3,), (0,), (2,), 1, True),
    Sample("volume", (2, 3, 4, 5, 4), (2, 3, 2, 3, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    Sample("volume-groups", (2, 4, 6, 5, 4), (2, 2, 2, 3, 2), (2, 1, 2), (1, 1, 1), (1, 1, 1), 2),
    Sample("volume-dilate", (2, 4, 6, 5, 6), (2, 4, 2, 3, 2), (2, 1, 2), (1, 1, 1), (2, 1, 2)),
    Sample(
        "volume-cover", (2, 3, 4, 5, 4), (2, 3, 2, 3, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), 1, True
    ),
]
