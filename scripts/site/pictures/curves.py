"""Curves of functions of one array with their derivatives, and of losses."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import chainer
from scripts.site.names import Name
from scripts.site.pictures.figures import MAIN, SECOND, Drawing, drawing, new_axes

_POINTS = 401


def draw(name: Name, value: object) -> Drawing | None:
    """Draws a function of ``chainer.functions`` that computes each element by itself."""
    if not name.public.startswith("chainer.functions.") or not inspect.isfunction(value):
        return None
    category = name.canonical.split(".")[2]
    if category in ("activation", "math"):
        return _function(name, value)
    if category == "loss":
        return _loss(name, value)
    return None


def _required(function: Callable[..., Any]) -> int:
    """Returns the number of arguments that a function needs."""
    parameters = inspect.signature(function).parameters.values()
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


def _curve(
    function: Callable[[Any], Any], x: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Returns values and derivatives; None unless the function computes each element by itself."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        variable = chainer.Variable(x.copy())
        try:
            y = function(variable)
            # Of elements by themselves, a part has the values of the whole.
            part = function(chainer.Variable(x[5:12].copy()))
        except Exception:  # not a function of such an array, whatever it says
            return None
        if not isinstance(y, chainer.Variable) or y.shape != x.shape or part.shape != (7,):
            return None
        if not np.array_equal(y.array[5:12], part.array, equal_nan=True):
            return None
        if not y.requires_grad:
            return y.array, None
        y.grad = np.ones_like(y.array)
        try:
            y.backward()
        except Exception:  # its gradient is not for such an array
            return y.array, None
        return y.array, variable.grad


def _function(name: Name, function: Callable[..., Any]) -> Drawing | None:
    if _required(function) != 1:
        return None
    x = np.linspace(-4, 4, _POINTS).astype(np.float64)
    np.random.seed(0)
    # Without noise, where a function has it in training.
    with chainer.using_config("train", False):
        curve = _curve(function, x)
    if curve is None:
        return None
    y, derivative = curve
    if derivative is not None:
        derivative = np.where(np.isfinite(y), derivative, np.nan)
    finite = y[np.isfinite(y)]
    if finite.size < 20 or np.array_equal(y, x):
        return None
    (axes,) = new_axes()
    axes.plot(x, y, color=MAIN, label="value")
    low, high = np.percentile(finite, [1, 99])
    if derivative is not None:
        axes.plot(x, derivative, color=SECOND, linestyle="--", label="derivative")
        known = derivative[np.isfinite(derivative)]
        if known.size:
            low, high = min(low, np.percentile(known, 2)), max(high, np.percentile(known, 98))
    margin = 0.08 * (high - low) + 0.05
    axes.set(xlabel="x", ylim=(max(low, -12) - margin, min(high, 12) + margin))
    axes.legend(loc="best")
    label = name.public.rpartition(".")[2]
    what = "Values" if derivative is None else "Values (solid) and derivative (dashed)"
    return drawing([axes], f"{what} of `{label}` with its default arguments.")


#: Batches of one example as a function of a number: what they are, and the first two arguments.
_LOSSES: tuple[tuple[str, Callable[[float], tuple[np.ndarray, ...]]], ...] = (
    ("{0} of one element and {1} = 0", lambda s: (np.array([[s]]), np.array([[0.0]]))),
    ("scores (x, 0) of two classes and label 0", lambda s: (np.array([[s, 0.0]]), np.array([0]))),
    ("a score of one element and label 1", lambda s: (np.array([[s]]), np.array([[1]]))),
)

#: Name of a further argument -> an example of it.
_FURTHER = {"delta": 1.0, "margin": 1.0}


def _loss(name: Name, function: Callable[..., Any]) -> Drawing | None:
    required = _required(function)
    names = list(inspect.signature(function).parameters)[:required]
    if required < 2 or not _FURTHER.keys() >= set(names[2:]):
        return None
    further = {key: _FURTHER[key] for key in names[2:]}
    grid = np.linspace(-4, 4, 161)
    for text, arguments in _LOSSES:
        values = []
        try:
            with warnings.catch_warnings(), chainer.using_config("train", False):
                warnings.simplefilter("ignore")
                for s in grid:
                    loss = function(*arguments(float(s)), **further)
                    if loss.size != 1:
                        raise ValueError("not a loss of one element")
                    values.append(float(loss.array.item()))
        except Exception:  # not a loss of such arguments, whatever it says
            continue
        if np.ptp(values) < 1e-6 or not np.isfinite(values).all():
            continue
        (axes,) = new_axes()
        axes.plot(grid, values, color=MAIN)
        axes.set(xlabel=names[0] if "{0}" in text else "score", ylabel="loss")
        label = name.public.rpartition(".")[2]
        options = "".join(f", {key} = {value:g}" for key, value in further.items())
        return drawing([axes], f"`{label}` of {text.format(*names)}{options}.")
    return None
