"""Reference kernels of linear algebra: those of the array library."""

from __future__ import annotations

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.config.configuration import config
from chainer.core.typing import Array

#: What is said of a matrix that has no inverse.
SINGULAR = "Input has singular matrices."


class InverseKernel(ReferenceKernel):
    """Inverse of each matrix of a stack."""

    def forward(self, a: Array) -> Array:
        try:
            y = self.xp.linalg.inv(a)
        except numpy.linalg.LinAlgError as error:
            raise ValueError(SINGULAR) from error
        if config.debug and not self.xp.isfinite(y).all() and self.xp.isfinite(a).all():
            raise ValueError(SINGULAR)
        return y


class CholeskyKernel(ReferenceKernel):
    """Cholesky factor of a matrix."""

    def forward(self, a: Array) -> Array:
        wide = a.astype(numpy.float32) if is_half(a.dtype) else a
        return self.xp.linalg.cholesky(wide).astype(a.dtype, copy=False)
