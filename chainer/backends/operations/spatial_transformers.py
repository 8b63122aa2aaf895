"""Sampling of images at arbitrary points."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class SpatialTransformerSampler(Operation):
    """Bilinear interpolation of images at given points.

    ``select(x, grid)``: ``x`` images of shape ``(N, C, H, W)``, floating point; ``grid`` points of
    shape ``(N, 2, h, w)`` and the same dtype, the x coordinate first. The corners of the image are
    at -1 and 1; it is surrounded by zeros.

    Methods:
        ``forward(x, grid) -> y`` of shape ``(N, C, h, w)`` and the dtype of ``x``.

        ``backward(x, grid, gy) -> (gx, ggrid)``, of the shapes and dtypes of ``x`` and ``grid``.
    """

    name = "spatial_transformer_sampler"
    reference = (
        "chainer.backends.numpy.kernels.spatial_transformers:SpatialTransformerSamplerKernel"
    )


spatial_transformer_sampler = SpatialTransformerSampler()
