"""What losses with class labels share."""

from __future__ import annotations

from typing import Any

import chainer
import chainer.functions as F
from chainer.utils import type_check


def expect_scores_and_labels(in_types: type_check.TypeInfoTuple) -> None:
    """Type check of scores ``(N, C, ...)`` and labels ``(N, ...)``."""
    type_check.expect(in_types.size() == 2)
    x, t = in_types
    type_check.expect(x.dtype.kind == "f", t.dtype.kind == "i", x.ndim >= 2, t.ndim == x.ndim - 1)
    type_check.expect(x.shape[0] == t.shape[0], x.shape[2:] == t.shape[1:])


def check_reduce(reduce: str) -> None:
    """Refuses unknown ways to reduce losses."""
    if reduce not in ("mean", "no"):
        raise ValueError(f"only 'mean' and 'no' are valid for 'reduce', but {reduce!r} is given")


def check_labels(t: Any, n_classes: int, ignore_label: int) -> None:
    """Raises for labels that are not a class, in debug mode."""
    if chainer.config.debug:
        valid = ((t >= 0) & (t < n_classes)) | (t == ignore_label)
        if not bool(valid.all()):
            raise ValueError(
                f"each label must be from 0 to {n_classes - 1} or {ignore_label}, "
                f"got {int(t[~valid].reshape(-1)[0])}"
            )


def one_hot(xp: Any, t: Any, n_classes: int, dtype: Any) -> Any:
    """Returns ones where the class is that of the label, shape ``(N, C, ...)``."""
    classes = xp.arange(n_classes).reshape((-1,) + (1,) * (t.ndim - 1))
    return (t[:, None] == classes).astype(dtype)


def mean_of_valid(losses: chainer.Variable, valid: Any) -> chainer.Variable:
    """Returns the mean of losses of which those not valid are zero; zero if there are none.

    Args:
        losses: The losses, of any shape.
        valid: Bool, of the same shape.
    """
    xp = chainer.backend.get_array_module(valid)
    count = xp.maximum(valid.sum(), 1)
    wide = F.cast(losses, "f") if losses.dtype.itemsize < 4 else losses
    mean = F.sum(wide) * (1 / count).astype(wide.dtype)
    return F.cast(mean, losses.dtype)
