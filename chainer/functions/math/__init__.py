"""math functions."""

MODULES: dict[str, tuple[str, ...]] = {}
