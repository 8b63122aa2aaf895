"""The pack of the distribution. Imports nothing: JAX is imported when the backend is used."""

from __future__ import annotations

from typing import Any

chainer_api = 1


def chainer_backends(registry: Any) -> None:
    """Registers the backend.

    Args:
        registry: Registry of backends.
    """
    registry.register("jax", "chainer_jax.backend:backend")


def chainer_kernels(registry: Any) -> None:
    """Registers kernels for arrays of the backend.

    Args:
        registry: Registry of kernels.
    """
    from chainer.kernel import register_kernel

    from chainer_jax.kernels import declarations

    for kernel in declarations():
        register_kernel(kernel, registry)
