"""Evaluation functions."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

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
