"""The pack of the CuPy backend."""

from __future__ import annotations

from typing import Any


def chainer_backends(registry: Any) -> None:
    """Registers the CuPy backend; CuPy itself is imported when it is used."""
    registry.register("cupy", "chainer.backends.cupy.backend:backend")


def chainer_kernels(registry: Any) -> None:
    """Registers the CUDA kernels for CuPy arrays; they are compiled when they are used."""
    from chainer.backends.cupy.kernels import declarations
    from chainer.core.kernel import register_kernel

    for kernel in declarations():
        register_kernel(kernel, registry)
