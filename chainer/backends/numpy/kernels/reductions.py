"""Reference kernel of sums over axes."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.numpy.short_sums import FEWEST_ELEMENTS, short_sum
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array

#: The stubs of NumPy do not know that it takes None for the dtype.
_reduce: Any = numpy.add.reduce


class AxesSumKernel(ReferenceKernel):
    """Sum over axes."""

    def forward(self, x: Array, axis: Any, keepdims: bool) -> Array:
        # Recorded steps have arrays of a type of their own, and choose a way when they are made.
        if type(x) is numpy.ndarray:
            # Small arrays first: the other tests would take as long as the sum.
            if axis is not None and x.size >= FEWEST_ELEMENTS and x.ndim > 1:
                single = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
                # Sums over the first axis need no help, so the call for them is left out.
                if isinstance(single, int) and single:
                    y = short_sum(x, single % x.ndim)
                    if y is not None:
                        if not keepdims:
                            return y
                        shape = list(x.shape)
                        shape[single] = 1
                        return y.reshape(shape)
            # As x.sum(), which is written in Python and calls this.
            return numpy.asarray(_reduce(x, axis, None, None, keepdims))
        return self.xp.asarray(x.sum(axis=axis, keepdims=keepdims))
