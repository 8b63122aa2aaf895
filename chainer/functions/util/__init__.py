"""Utility functions."""

MODULES: dict[str, tuple[str, ...]] = {}
