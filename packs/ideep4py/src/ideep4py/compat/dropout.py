"""``dropout``."""

from __future__ import annotations

import numpy as np

from ideep4py import ops
from ideep4py._mdarray import mdarray
from ideep4py.compat.arguments import need_mdarray


class dropout:
    """Sets a random part of the elements to zero and scales the others."""

    @staticmethod
    def Forward(src: mdarray, ratio: float, /) -> tuple[mdarray, mdarray]:
        """``(mask, output)``: the mask is 0 with probability ``ratio``, else ``1 / (1 - ratio)``.

        The random numbers are NumPy's: ``numpy.random.seed`` makes them repeatable.

        Raises:
            TypeError: ``src`` is not an mdarray.
            ValueError: ``ratio`` is not in [0, 1).
        """
        need_mdarray(src=src)
        if not 0.0 <= ratio < 1.0:
            raise ValueError(f"ratio must be at least 0 and less than 1, got {ratio}")
        kept = np.random.random_sample(src.shape) >= ratio
        mask = mdarray(kept * np.float32(1.0 / (1.0 - ratio)))
        return mask, ops.mul(src, mask)

    @staticmethod
    def Backward(mask: mdarray, grady: mdarray, /) -> mdarray:
        """``mask * grady``."""
        need_mdarray(mask=mask, grady=grady)
        return ops.mul(grady, mask)
