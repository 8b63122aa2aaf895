"""Utility functions."""

MODULES: dict[str, tuple[str, ...]] = {
    "forget": ("Forget", "forget"),
}
