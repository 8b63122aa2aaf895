"""CUDA kernels of linear algebra, on the libraries that CuPy calls."""

from __future__ import annotations

import importlib

import numpy

from chainer.backends.numpy.kernels.linear_algebra import NOT_POSITIVE, SINGULAR
from chainer.backends.numpy.kernels.linear_algebra import (
    CholeskyKernel as ReferenceCholeskyKernel,
)
from chainer.core.arrays.backend import Backend
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayModule


class InverseKernel:
    """Kernel of ``inverse``.

    The inverse solves a system of equations. ``cupy.linalg.inv`` would return uninitialized memory
    for a singular matrix in a stack.
    """

    def __init__(self, backend: Backend) -> None:
        self.xp: ArrayModule = backend.xp

    def forward(self, a: Array) -> Array:
        xp, cupyx = self.xp, importlib.import_module("cupyx")
        unit = xp.empty_like(a)
        unit[...] = xp.eye(a.shape[-1], dtype=a.dtype)
        # A check for singular matrices would wait for the device, hence in debug mode only.
        with cupyx.errstate(linalg="raise" if config.debug else "ignore"):
            try:
                return xp.linalg.solve(a, unit)
            except numpy.linalg.LinAlgError as error:
                raise ValueError(SINGULAR) from error


class CholeskyKernel(ReferenceCholeskyKernel):
    """Kernel of ``cholesky``."""

    def forward(self, a: Array) -> Array:
        cupyx = importlib.import_module("cupyx")
        # A check of the matrix would wait for the device, hence in debug mode only.
        with cupyx.errstate(linalg="raise" if config.debug else "ignore"):
            try:
                return super().forward(a)
            except numpy.linalg.LinAlgError as error:
                if a.ndim < 2 or a.shape[-2] != a.shape[-1]:
                    raise
                # CuPy names a routine of cuSOLVER and its status.
                raise numpy.linalg.LinAlgError(NOT_POSITIVE) from error
