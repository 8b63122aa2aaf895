"""Activation functions with parameters."""

MODULES: dict[str, tuple[str, ...]] = {}
