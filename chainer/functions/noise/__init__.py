"""Noise injections."""

MODULES: dict[str, tuple[str, ...]] = {
    "dropout": ("Dropout", "dropout"),
}
