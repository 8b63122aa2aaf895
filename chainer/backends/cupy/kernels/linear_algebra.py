"""Kernels of linear algebra, on the libraries that CuPy calls."""

from __future__ import annotations

import importlib

import numpy

from chainer.backends.numpy.kernels.linear_algebra import SINGULAR
from chainer.backends.numpy.kernels.linear_algebra import (
    CholeskyKernel as ReferenceCholeskyKernel,
)
from chainer.core.arrays.backend import Backend
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayModule


class InverseKernel:
    """Kernel of ``inverse``.

    As solutions of equations: what ``cupy.linalg.inv`` gives for a singular matrix of a stack is
    memory that nobody wrote.
    """

    def __init__(self, backend: Backend) -> None:
        self.xp: ArrayModule = backend.xp

    def forward(self, a: Array) -> Array:
        xp, cupyx = self.xp, importlib.import_module("cupyx")
        unit = xp.empty_like(a)
        unit[...] = xp.eye(a.shape[-1], dtype=a.dtype)
        # To look for singular matrices means to wait for the device.
        with cupyx.errstate(linalg="raise" if config.debug else "ignore"):
            try:
                return xp.linalg.solve(a, unit)
            except numpy.linalg.LinAlgError as error:
                raise ValueError(SINGULAR) from error


class CholeskyKernel(ReferenceCholeskyKernel):
    """Kernel of ``cholesky``."""

    def forward(self, a: Array) -> Array:
        cupyx = importlib.import_module("cupyx")
        # To look whether the matrix is positive definite means to wait for the device.
        with cupyx.errstate(linalg="raise" if config.debug else "ignore"):
            return super().forward(a)
