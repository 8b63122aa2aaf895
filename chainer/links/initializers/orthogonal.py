"""Initializer that makes orthogonal matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.arrays.backend import get_device_from_array
from chainer.links.initializer import Initializer, draw


class Orthogonal(Initializer):
    """Initializes array with an orthogonal system.

    The array is seen as a matrix of ``shape[0]`` rows. Its rows (or columns, where there are more
    rows than columns) are orthogonal to each other and of length ``scale``, drawn uniformly among
    all such systems. It can be used as an initializer of recurrent and deep linear networks.

    Reference: Saxe et al., https://arxiv.org/abs/1312.6120

    Args:
        scale (float): Length of the vectors.
        dtype: Data type of the initialized arrays; None for any.

    Example:
        >>> W = np.empty((2, 3), np.float32)
        >>> chainer.initializers.Orthogonal(scale=1.0)(W)
        >>> bool(np.allclose(W @ W.T, np.eye(2), atol=1e-5))
        True
    """

    def __init__(self, scale: float = 1.1, dtype: Any = None) -> None:
        self.scale = scale
        super().__init__(dtype)

    def __call__(self, array: Any) -> None:
        """Initializes given array in place."""
        self._check_dtype(array)
        if array.ndim == 0:
            array[...] = self.scale * (2 * draw(array, "randint", 2) - 1)
            return
        if array.size == 0:
            return
        shape = (array.shape[0], math.prod(array.shape[1:]))
        device = get_device_from_array(array)
        gaussian = device.backend.to_host(draw(array, "normal", 0.0, 1.0)).reshape(shape)
        transposed = shape[0] < shape[1]
        if transposed:
            gaussian = gaussian.T
        q, r = numpy.linalg.qr(gaussian)
        # With the signs of R's diagonal the distribution is uniform (Haar); QR alone is biased.
        q *= numpy.where(numpy.diagonal(r) < 0, -1.0, 1.0)
        matrix = (q.T if transposed else q).reshape(array.shape)
        array[...] = device.send(numpy.ascontiguousarray(self.scale * matrix, dtype=array.dtype))
