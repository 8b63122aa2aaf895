"""Initializer that makes orthogonal matrices."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy

from chainer.core.arrays.backend import get_device_from_array
from chainer.core.typing import Array, DTypeLike
from chainer.links.initializers._random import RandomInitializer, RandomSource

#: Mode -> what the numbers of outputs and inputs must fulfill, and the name of such a matrix.
_orthogonal_constraints: dict[str, tuple[Callable[[int, int], bool] | None, str]] = {
    "auto": (None, ""),
    "projection": (operator.le, "projection"),
    "embedding": (operator.ge, "embedding"),
    "basis": (operator.eq, "basis"),
}


class Orthogonal(RandomInitializer):
    """Initializes array with an orthogonal system.

    The array is viewed as a matrix of ``shape[0]`` rows, the outputs; its columns are the inputs.
    The rows (or columns, where there are more rows than columns) are orthogonal to each other and
    of length ``scale``, drawn uniformly among all such systems. It can be used as an initializer of
    recurrent and deep linear networks.

    Reference: Saxe et al., https://arxiv.org/abs/1312.6120

    Args:
        scale (float): Length of the vectors.
        dtype: Data type of the initialized arrays; None for any.
        mode (str): ``'auto'``: any shape. ``'projection'``: there must not be more outputs than
            inputs. ``'embedding'``: there must not be fewer. ``'basis'``: both must be equal.
        rng (RandomState): Random number generator, of any backend; None for the global one of the
            array's backend.

    Raises:
        ValueError: If the mode is unknown; when called with an array that is empty or whose shape
            does not fit the mode.

    Example:
        >>> W = np.empty((2, 3), np.float32)
        >>> chainer.initializers.Orthogonal(scale=1.0)(W)
        >>> bool(np.allclose(W @ W.T, np.eye(2), atol=1e-5))
        True
    """

    # Initializers restored from pickles of older releases lack the attribute.
    mode: str = "auto"

    def __init__(
        self,
        scale: float = 1.1,
        dtype: DTypeLike = None,
        mode: str = "auto",
        *,
        rng: RandomSource | None = None,
    ) -> None:
        if mode not in _orthogonal_constraints:
            choices = ", ".join(map(repr, _orthogonal_constraints))
            raise ValueError(f"Invalid mode: {mode!r}. Choose from {choices}.")
        self.mode = mode
        super().__init__(scale, dtype, rng=rng)

    def __call__(self, array: Array) -> None:
        """Initializes given array in place."""
        self._check_dtype(array)
        if array.ndim == 0:
            array[...] = self.scale * self._sign(array)
            return
        if array.size == 0:
            raise ValueError(
                f"Array to be initialized must be non-empty, got an array of shape {array.shape}."
            )
        n_out, n_in = array.shape[0], math.prod(array.shape[1:])
        fits, name = _orthogonal_constraints[self.mode]
        if fits is not None and not fits(n_out, n_in):
            raise ValueError(
                f"Cannot make orthogonal {name}. shape = {array.shape}, interpreted as {n_in}-dim "
                f"input and {n_out}-dim output."
            )
        device = get_device_from_array(array)
        draws = self._normal(array, 1.0)
        gaussian = get_device_from_array(draws).backend.to_host(draws).reshape(n_out, n_in)
        transposed = n_in > n_out
        if transposed:
            gaussian = gaussian.T
        q, r = numpy.linalg.qr(gaussian)
        # With the signs of R's diagonal the distribution is uniform (Haar); QR alone is biased.
        q *= numpy.where(numpy.diagonal(r) < 0, -1.0, 1.0)
        matrix = (q.T if transposed else q).reshape(array.shape)
        array[...] = device.send(numpy.ascontiguousarray(self.scale * matrix, dtype=array.dtype))

    def _sign(self, array: Array) -> int:
        """Draws 1 or -1."""
        device = get_device_from_array(array)
        with device.backend.use(device):
            rng = device.backend.random(device) if self.rng is None else self.rng
            return 2 * int(rng.randint(2)) - 1
