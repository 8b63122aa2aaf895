"""The pack of the CuPy backend."""

from __future__ import annotations

from typing import Any


def chainer_backends(registry: Any) -> None:
    """Registers the CuPy backend; CuPy itself is imported when it is used."""
    registry.register("cupy", "chainer.backends.cupy.backend:backend")
