"""Activation functions."""

MODULES: dict[str, tuple[str, ...]] = {
    "tanh": ("tanh", "Tanh"),
}
