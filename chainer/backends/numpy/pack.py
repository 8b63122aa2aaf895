"""The NumPy backend, and all operations with their reference kernels."""

from __future__ import annotations

from typing import Any

from chainer.core.registry.tables import register_table


def chainer_backends(registry: Any) -> None:
    """Registers the NumPy backend."""
    registry.register("numpy", "chainer.backends.numpy.backend:backend")


def chainer_operations(registry: Any) -> None:
    """Registers the operations."""
    from chainer.backends import operations

    register_table(registry, operations)
