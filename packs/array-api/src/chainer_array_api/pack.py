"""The pack of the distribution. Imports nothing: the libraries are imported when used."""

from __future__ import annotations

from typing import Any

chainer_api = 1


def chainer_backends(registry: Any) -> None:
    """Registers the backends of the libraries that are known to work.

    Args:
        registry: Registry of backends.
    """
    registry.register("torch", "chainer_array_api.libraries.torch:backend")
    registry.register("array_api_strict", "chainer_array_api.libraries.strict:backend")
