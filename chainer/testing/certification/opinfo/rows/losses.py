"""Losses."""

from __future__ import annotations

from typing import Any

from chainer.testing.certification.opinfo.row import Difference, Row


def _reduced(F: Any, loss: Any, reduction: str) -> Any:
    return {"mean": F.mean, "sum": F.sum, "none": lambda y: y}[reduction](loss)


def _absolute_error(F: Any, x: Any, t: Any, reduction: str = "mean") -> Any:
    return _reduced(F, F.absolute_error(x, t), reduction)


def _squared_error(F: Any, x: Any, t: Any, reduction: str = "mean") -> Any:
    return _reduced(F, F.squared_error(x, t), reduction)


def _huber_loss(F: Any, x: Any, t: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    return _reduced(F, F.huber_loss(x, t, delta, reduce="no"), reduction)


def _cross_entropy(
    F: Any, x: Any, t: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100
) -> Any:
    reduce = "mean" if reduction == "mean" else "no"
    loss = F.softmax_cross_entropy(
        x,
        t,
        class_weight=None if weight is None else weight.array,
        ignore_label=ignore_index,
        reduce=reduce,
    )
    return F.sum(loss) if reduction == "sum" else loss


_NOT_THE_MEAN = Difference(
    "the mean: the function of each element is another one",
    lambda given: given.get(2, "reduction", "mean") != "mean",
)

ROWS = (
    Row("absolute_error", "nn.functional.l1_loss", _absolute_error),
    Row(
        "mean_absolute_error",
        "nn.functional.l1_loss",
        lambda F, x, t, reduction="mean": F.mean_absolute_error(x, t),
        differences=(_NOT_THE_MEAN,),
    ),
    Row("squared_error", "nn.functional.mse_loss", _squared_error),
    Row(
        "mean_squared_error",
        "nn.functional.mse_loss",
        lambda F, x, t, reduction="mean": F.mean_squared_error(x, t),
        differences=(_NOT_THE_MEAN,),
    ),
    Row("huber_loss", "nn.functional.huber_loss", _huber_loss),
    Row(
        "softmax_cross_entropy",
        "nn.functional.cross_entropy",
        _cross_entropy,
        differences=(
            Difference(
                "probabilities as t are constants without a gradient",
                lambda given: given.args[1].dtype.kind == "f",
            ),
            Difference(
                "the mean is over the examples, not over their weights",
                lambda given: "weight" in given.kwargs and given.kwargs["reduction"] == "mean",
            ),
        ),
    ),
)
