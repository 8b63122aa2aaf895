"""``onnx_chainer.mapping``: the converters by the names of functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from onnx_chainer.converter_registry import registry


class _Converters(Mapping[str, Any]):
    """All converters that are registered, imported when they are looked up."""

    def __getitem__(self, name: str) -> Any:
        if name not in registry:
            raise KeyError(name)
        return registry.get(name)

    def __iter__(self) -> Iterator[str]:
        registry.load_all()
        return iter(registry.names())

    def __len__(self) -> int:
        registry.load_all()
        return len(registry)


converters = _Converters()
"""Read-only mapping of the names of functions to their converters."""
