"""Evaluation functions."""

MODULES: dict[str, tuple[str, ...]] = {}
