"""Functions of each element."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.config.configuration import using_config
from chainer.testing.certification.opinfo.row import Arguments, Difference, Row, keyword

_SAME_NAME = (
    *("ceil", "cos", "cosh", "digamma", "erf", "erfc", "erfinv", "exp", "expm1", "floor", "lgamma"),
    *("log", "log10", "log1p", "log2", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square"),
    *("tan", "tanh"),
)
_SPECIAL = ("erfcx", "log_ndtr", "ndtr", "ndtri")
_NN = ("elu", "hard_swish", "mish", "relu", "relu6", "selu", "silu")
_OTHER_NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctanh": "atanh",
    "fix": "trunc",
}


def _above_threshold(given: Arguments) -> bool:
    x, beta, threshold = given.args[0], given.kwargs["beta"], given.kwargs["threshold"]
    return bool(numpy.any(beta * x > threshold))


def _without_batch(given: Arguments) -> bool:
    return given.args[0].ndim < given.get(1, "weight").ndim + 1


def _rrelu(F: Any, x: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False):
    with using_config("train", training):
        return F.rrelu(x, lower, upper)


ROWS = (
    *(Row(name, name) for name in _SAME_NAME),
    *(Row(name, f"special.{name}") for name in _SPECIAL),
    *(Row(name, f"nn.functional.{name.replace('hard_', 'hard')}") for name in _NN),
    *(Row(name, op) for name, op in _OTHER_NAMES.items()),
    # -1: the device stays.
    Row("copy", "clone", lambda F, x: F.copy(x, -1)),
    Row("add", "add", differences=(keyword("alpha", "no factor: write a + alpha * b"),)),
    Row("arctan2", "atan2"),
    Row("fmod", "fmod"),
    Row("maximum", "maximum"),
    Row("minimum", "minimum"),
    Row("zeta", "special.zeta"),
    Row("polygamma", "polygamma", lambda F, x, n: F.polygamma(numpy.asarray(n), x)),
    Row("where", "where", lambda F, x, condition, y: F.where(condition, x, y)),
    Row(
        "clip",
        "nn.functional.hardtanh",
        lambda F, x, min_val=-1.0, max_val=1.0: F.clip(x, min_val, max_val),
    ),
    Row("leaky_relu", "nn.functional.leaky_relu", lambda F, x, slope=0.01: F.leaky_relu(x, slope)),
    Row(
        "gelu",
        "nn.functional.gelu",
        lambda F, x, approximate: F.gelu(x, approximate=approximate == "tanh"),
    ),
    Row(
        "softplus",
        "nn.functional.softplus",
        lambda F, x, beta, threshold: F.softplus(x, beta),
        differences=(
            Difference(
                "PyTorch returns x above a threshold, which is an approximation", _above_threshold
            ),
        ),
    ),
    Row(
        "prelu",
        "nn.functional.prelu",
        lambda F, x, weight: F.prelu(x, weight),
        differences=(
            Difference("W has the shape of an example, so x needs a batch axis", _without_batch),
        ),
    ),
    Row("glu", "nn.functional.glu", lambda F, x, dim=-1: F.glu(x, axis=dim)),
    Row(
        "rrelu",
        "nn.functional.rrelu",
        _rrelu,
        differences=(
            Difference(
                "slopes are random during training",
                lambda given: given.kwargs.get("training", False),
            ),
        ),
    ),
)
