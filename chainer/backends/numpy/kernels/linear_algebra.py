"""Reference kernels of linear algebra, by the functions of the array library."""

from __future__ import annotations

import numpy

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.config.configuration import config
from chainer.core.typing import Array

#: Error message for a matrix without an inverse.
SINGULAR = "Input has singular matrices."

#: NumPy's error message for a matrix without a Cholesky factor.
NOT_POSITIVE = "Matrix is not positive definite"


class InverseKernel(ReferenceKernel):
    """Inverse of each matrix of a stack."""

    def forward(self, a: Array) -> Array:
        try:
            y = self._inverse(a)
        except numpy.linalg.LinAlgError as error:
            raise ValueError(SINGULAR) from error
        # Some libraries return infinity instead of raising. Reading values waits for the device, so
        # that only the debug mode checks them.
        if config.debug and not self.xp.isfinite(y).all() and self.xp.isfinite(a).all():
            raise ValueError(SINGULAR)
        return y

    def _inverse(self, a: Array) -> Array:
        xp = self.xp
        # LAPACK may take a NaN for a small number: it finds numbers, or a singular matrix.
        unknown = xp.isnan(a).any(axis=(-2, -1), keepdims=True)
        try:
            y = xp.linalg.inv(a)
        except numpy.linalg.LinAlgError:
            if not unknown.any():
                raise
            y = xp.linalg.inv(xp.where(unknown, xp.eye(a.shape[-1], dtype=a.dtype), a))
        return xp.where(unknown, xp.full((), numpy.nan, a.dtype), y)


class CholeskyKernel(ReferenceKernel):
    """Cholesky factor of a matrix."""

    def forward(self, a: Array) -> Array:
        y = self.xp.linalg.cholesky(to_compute_dtype(a))
        # Some libraries return NaN instead of raising, see InverseKernel.
        if config.debug and not self.xp.isfinite(y).all() and self.xp.isfinite(a).all():
            raise numpy.linalg.LinAlgError(NOT_POSITIVE)
        return y.astype(a.dtype, copy=False)
