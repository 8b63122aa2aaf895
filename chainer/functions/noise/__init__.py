"""Noise injections."""

MODULES: dict[str, tuple[str, ...]] = {}
