"""Normalization functions."""

MODULES: dict[str, tuple[str, ...]] = {}
