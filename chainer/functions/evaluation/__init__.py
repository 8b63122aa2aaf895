"""Evaluation functions."""

MODULES: dict[str, tuple[str, ...]] = {
    "accuracy": ("Accuracy", "accuracy"),
}
