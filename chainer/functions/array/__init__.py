"""Array manipulations."""

MODULES: dict[str, tuple[str, ...]] = {}
