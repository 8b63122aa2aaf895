"""Evaluation functions."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "accuracy": ("Accuracy", "accuracy"),
    "binary_accuracy": ("BinaryAccuracy", "binary_accuracy"),
    "classification_summary": (
        "ClassificationSummary",
        "classification_summary",
        "f1_score",
        "precision",
        "recall",
    ),
    "r2_score": ("R2_score", "r2_score"),
}
