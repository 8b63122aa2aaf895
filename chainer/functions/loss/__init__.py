"""Loss functions."""

MODULES: dict[str, tuple[str, ...]] = {}
