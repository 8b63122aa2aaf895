"""The iDeep backend, with kernels on oneDNN for x86-64."""

from __future__ import annotations

from typing import Any


def chainer_backends(registry: Any) -> None:
    """Registers the iDeep backend; ideep4py is imported when the backend is used first."""
    registry.register("ideep", "chainer.backends.ideep.backend:backend")


def chainer_kernels(registry: Any) -> None:
    """Registers the kernels of iDeep for NumPy arrays and mdarrays."""
    from chainer.backends.ideep.kernels import declarations
    from chainer.core.arrays.kernel import register_kernel

    for kernel in declarations():
        register_kernel(kernel, registry)
