"""Reference kernel of the sampling of images at arbitrary points."""

from __future__ import annotations

from collections.abc import Iterable

import numpy

from chainer.core.arrays.chunks import chunks
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, ArrayModule


def sampling_positions(xp: ArrayModule, coordinates: Array, length: int) -> tuple[Array, Array]:
    """Converts coordinates along an axis to positions in an image with a border of zeros.

    Args:
        xp: Array namespace.
        coordinates: Coordinates, -1 for the first and 1 for the last pixel.
        length: Number of pixels.

    Returns:
        The index of the pixel before the point, and the distance of the point from it. Indices
        count from 0 at the border: there are ``length + 3`` pixels, one of the border in front and
        two behind. Points outside the border are moved onto it. A coordinate that is NaN gives
        index 0 and the distance NaN, so that the pixels that are computed from it are NaN, too.
    """
    half = (length - 1) / 2
    position = coordinates * half
    position += half + 1
    position = xp.clip(position, 0, length + 1)
    # NaN has no index: the distance alone is NaN there, and so are the pixels computed from it.
    before = xp.floor(xp.where(xp.isnan(position), xp.zeros((), position.dtype), position))
    position -= before
    return before.astype(numpy.intp), position


def add_border(xp: ArrayModule, x: Array) -> Array:
    """Returns images with a border of zeros, channels last, of shape ``(N, H + 3, W + 3, C)``."""
    n, c, h, w = x.shape
    padded = xp.zeros((n, h + 3, w + 3, c), dtype=x.dtype)
    padded[:, 1 : h + 1, 1 : w + 1] = x.transpose(0, 2, 3, 1)
    return padded


class SpatialTransformerSamplerKernel(ReferenceKernel):
    """Bilinear sampling with the channels last, so that a point gathers four contiguous vectors."""

    def forward(self, x: Array, grid: Array) -> Array:
        """Returns the images at the points of the grid."""
        # Interpolation in float16 would lose digits in every product.
        if x.dtype.char == "e":
            return self.forward(x.astype("f"), grid.astype("f")).astype("e")
        y = self.xp.empty((*x.shape[:2], *grid.shape[2:]), x.dtype)
        for block in self._blocks(x, grid):
            self._sample(x[block], grid[block], y[block])
        return y

    def _blocks(self, x: Array, grid: Array) -> Iterable[slice]:
        """Returns slices of the images, whose gathered pixels need much memory."""
        if self.xp is not numpy:
            return (slice(0, len(x)),)
        c, h, w = x.shape[1:]
        points = grid.shape[2] * grid.shape[3]
        return chunks(len(x), (8 * points + 2 * (h + 3) * (w + 3)) * c * x.dtype.itemsize, 1 << 21)

    def _sample(self, x: Array, grid: Array, y: Array) -> None:
        _, corners, (fu, fv) = self._gather(x, grid)
        (a, b), (c, d) = corners
        fu, fv = fu[:, None], fv[:, None]
        # Two horizontal interpolations and a vertical one, in the memory of the gathered pixels.
        b -= a
        b *= fu
        a += b
        d -= c
        d *= fu
        c += d
        c -= a
        c *= fv
        a += c
        n, _, h, w = grid.shape
        y[...] = a.reshape((n, h, w, x.shape[1])).transpose(0, 3, 1, 2)

    def _gather(self, x: Array, grid: Array) -> tuple[Array, Array, tuple[Array, Array]]:
        """Returns flat indices of the upper left pixels, the four pixels, and the distances."""
        xp = self.xp
        n, c, h, w = x.shape
        iu, fu = sampling_positions(xp, grid[:, 0], w)
        iv, fv = sampling_positions(xp, grid[:, 1], h)
        width = w + 3
        rows = iv
        rows += xp.arange(n).reshape((n, 1, 1)) * (h + 3)
        rows *= width
        rows += iu
        rows = rows.reshape(-1)
        pixels = add_border(xp, x).reshape((-1, c))
        corners = tuple(
            [tuple([pixels[rows + (dv * width + du)] for du in (0, 1)]) for dv in (0, 1)]
        )
        return rows, corners, (fu.reshape(-1), fv.reshape(-1))

    def backward(self, x: Array, grid: Array, gy: Array) -> tuple[Array, Array]:
        """Returns the gradients with respect to the images and to the points."""
        if x.dtype.char == "e":
            wide = [array.astype("f") for array in (x, grid, gy)]
            gx, ggrid = self.backward(*wide)
            return gx.astype("e"), ggrid.astype("e")
        gx, ggrid = self.xp.empty(x.shape, x.dtype), self.xp.empty(grid.shape, grid.dtype)
        for block in self._blocks(x, grid):
            self._differentiate(x[block], grid[block], gy[block], gx[block], ggrid[block])
        return gx, ggrid

    def _differentiate(self, x: Array, grid: Array, gy: Array, gx: Array, ggrid: Array) -> None:
        """Fills ``gx`` and ``ggrid``."""
        xp = self.xp
        n, c, h, w = x.shape
        rows, corners, (fu, fv) = self._gather(x, grid)
        (a, b), (e, d) = corners
        gy = xp.ascontiguousarray(gy.transpose(0, 2, 3, 1)).reshape((-1, c))
        # With respect to the points: the slopes of the interpolated values.
        top, left = b - a, e - a
        twist = d - e - top
        gu = _rowwise_dot(top + twist * fv[:, None], gy) * ((w - 1) / 2)
        gv = _rowwise_dot(left + twist * fu[:, None], gy) * ((h - 1) / 2)
        inside = self._inside(grid, h, w)
        for k, gradient in enumerate((gu, gv)):
            ggrid[:, k] = gradient.reshape(grid[:, k].shape) * inside[:, k]
        del corners, a, b, e, d, top, left, twist
        # With respect to the images: each point spreads its gradient over four pixels.
        padded = xp.zeros((n, h + 3, w + 3, c), dtype=x.dtype)
        flat = padded.reshape(-1)
        channels = xp.arange(c)
        for dv, weight_v in ((0, 1 - fv), (1, fv)):
            for du, weight_u in ((0, 1 - fu), (1, fu)):
                positions = (rows + (dv * (w + 3) + du))[:, None] * c + channels
                values = gy * (weight_u * weight_v)[:, None]
                xp.add.at(flat, positions.reshape(-1), values.reshape(-1))
        gx[...] = padded[:, 1 : h + 1, 1 : w + 1].transpose(0, 3, 1, 2)

    def _inside(self, grid: Array, h: int, w: int) -> Array:
        """Returns 1 where a point was not moved onto the border, else 0."""
        xp = self.xp
        inside = xp.empty(grid.shape, dtype=bool)
        for k, length in enumerate((w, h)):
            half = (length - 1) / 2
            position = grid[:, k] * half + (half + 1)
            inside[:, k] = (position >= 0) & (position <= length + 1)
        return inside


def _rowwise_dot(a: Array, b: Array) -> Array:
    a *= b
    return a.sum(axis=1)
