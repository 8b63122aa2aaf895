"""activation functions."""

MODULES: dict[str, tuple[str, ...]] = {}
