"""The CuPy backend, with kernels on CUDA and cuDNN for NVIDIA's GPUs."""

from __future__ import annotations

from typing import Any


def chainer_backends(registry: Any) -> None:
    """Registers the CuPy backend; CuPy is imported when the backend is used first."""
    registry.register("cupy", "chainer.backends.cupy.backend:backend")


def chainer_kernels(registry: Any) -> None:
    """Registers the CUDA and cuDNN kernels for CuPy arrays, imported at first use."""
    from chainer.backends.cupy import kernels
    from chainer.backends.cupy.cudnn import kernels as cudnn_kernels
    from chainer.core.arrays.kernel import register_kernel

    for package in (kernels, cudnn_kernels):
        for kernel in package.declarations():
            register_kernel(kernel, registry)
