"""Which values of an observation are the better ones."""

from __future__ import annotations

from chainer.core.arguments import wrong_type


def larger_is_better(mode: str, key: str) -> bool:
    """Tells whether larger values of an observation are the better ones.

    Args:
        mode: ``'max'``, ``'min'``, or ``'auto'``: ``'max'`` for accuracies, scores and the
            like, going by the last part of the key.
        key: Key of the observation.

    Raises:
        ValueError: If the mode is unknown.
    """
    if mode not in ("auto", "max", "min"):
        raise ValueError(f"mode must be 'auto', 'max' or 'min', got {mode!r}")
    if mode != "auto":
        return mode == "max"
    if not isinstance(key, str):
        raise wrong_type("key", "the key of an observation, a str", key)
    return any(word in key.rsplit("/", 1)[-1].lower() for word in _LARGER_IS_BETTER)


_LARGER_IS_BETTER = ("accuracy", "precision", "recall", "score", "f1", "auc", "iou")
