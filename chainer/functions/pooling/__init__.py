"""Spatial pooling."""

MODULES: dict[str, tuple[str, ...]] = {}
