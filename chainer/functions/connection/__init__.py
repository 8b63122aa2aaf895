"""Neural network connections."""

MODULES: dict[str, tuple[str, ...]] = {}
