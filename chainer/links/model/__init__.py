"""Links that stand for whole models."""

MODULES: dict[str, tuple[str, ...]] = {
    "classifier": ("Classifier",),
}
