"""Curves of functions of one array with their derivatives, and of losses."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import chainer
from scripts.site.names import Name
from scripts.site.pictures.figures import (
    MAIN,
    NEUTRAL,
    SECOND,
    Drawing,
    drawing,
    new_axes,
    text_of,
)

_POINTS = 401


def draw(name: Name, value: object) -> Drawing | None:
    """Draws a function of ``chainer.functions`` that computes each element by itself."""
    if not name.public.startswith("chainer.functions.") or not inspect.isfunction(value):
        return None
    category = name.canonical.split(".")[2]
    if category in ("activation", "math"):
        return _function(name, value) or _plane(value) or _family(value)
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


#: Name of an argument besides the array -> an example of it.
_SETTINGS: dict[str, Any] = {"x_min": -1.0, "x_max": 2.0, "n": 1}


def _function(name: Name, function: Callable[..., Any]) -> Drawing | None:
    parameters = list(inspect.signature(function).parameters)[: _required(function)]
    settings = {each: _SETTINGS[each] for each in parameters if each in _SETTINGS}
    if len(parameters) - len(settings) != 1:
        return None
    (argument,) = (each for each in parameters if each not in settings)
    x = np.linspace(-4, 4, _POINTS).astype(np.float64)
    np.random.seed(0)
    # Without noise, where a function has it in training.
    with chainer.using_config("train", False):
        curve = _curve(lambda x: function(**{argument: x}, **settings), x)
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
    if settings:
        given = ", ".join(f"{key} = {each:g}" for key, each in settings.items())
        return drawing([axes], f"{what} of `{label}` with {given}.")
    return drawing([axes], f"{what} of `{label}` with its default arguments.")


def _plane(function: Callable[..., Any]) -> Drawing | None:
    """Draws a function of two arrays that computes each element by itself."""
    parameters = list(inspect.signature(function).parameters)[: _required(function)]
    if len(parameters) != 2:
        return None
    places = np.linspace(-4, 4, 81)
    x, y = np.meshgrid(places, places)
    part = np.s_[5:12, 7:9]
    try:
        with np.errstate(all="ignore"):
            values = function(x, y).array
            some = function(x[part].copy(), y[part].copy()).array
    except Exception:  # not a function of such arrays, whatever it says
        return None
    if values.shape != x.shape or not np.array_equal(values[part], some, equal_nan=True):
        return None
    return _contours(function, places, values, parameters)


def _contours(
    function: Callable[..., Any], places: np.ndarray, values: np.ndarray, labels: list[str]
) -> Drawing | None:
    finite = values[np.isfinite(values)]
    if finite.size < values.size / 3 or np.ptp(finite) == 0:
        return None
    # Lines of equal values say nothing where a function jumps in many places.
    jumps = np.abs(np.diff(values, axis=1)) > np.ptp(finite) / 10
    if jumps.mean() > 0.02:
        return None
    (axes,) = new_axes(height=3.0)
    low, high = np.percentile(finite, [1, 99])
    levels = np.linspace(low, high, 15)
    lines = axes.contour(places, places, values, levels=levels, cmap="viridis")
    axes.clabel(lines, list(levels[1::3]), fontsize=8)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    return drawing([axes], f"Lines of equal values of `{function.__name__}`.")


def _family(function: Callable[..., Any]) -> Drawing | None:
    """Draws a function of a vector, for vectors of two elements or of the elements x, 0 and 1."""
    known = {"pool_size": 2, "W": np.array([0.25]), "beta": np.array([1.5])}
    parameters = list(inspect.signature(function).parameters)[1 : _required(function)]
    if not known.keys() >= set(parameters):
        return None
    given = {each: known[each] for each in parameters}
    x = np.linspace(-4, 4, _POINTS)
    rest = np.ones_like(x)
    places = np.linspace(-4, 4, 81)
    pairs = np.stack(np.meshgrid(places, places), axis=-1).reshape(-1, 2)
    try:
        if parameters and parameters != ["pool_size"]:  # a parameter for each element
            columns = function(x[:, None], **given).array
            names = ["value"]
        else:
            halved = function(pairs, **given).array
            if halved.shape == (len(pairs), 1):
                return _contours(function, places, halved.reshape(81, 81), ["x[0]", "x[1]"])
            columns = function(np.stack([x, 0 * rest, rest], axis=1), **given).array
            names = ["first", "second", "third"]
            if columns.shape == (len(x), 6):  # each element twice
                columns, names = columns[:, [0, 3]], ["first", "second"]
    except Exception:  # not a function of such an array, whatever it says
        return None
    if columns.shape != (len(x), len(names)) or not np.isfinite(columns).all():
        return None
    if len(names) == 3 and np.array_equal(columns[:, 0], x):  # it changes nothing
        return None
    (axes,) = new_axes()
    styles = zip(columns.T, names, (MAIN, SECOND, NEUTRAL), ("-", "--", ":"), strict=False)
    for column, label, color, style in styles:
        axes.plot(x, column, style, color=color, label=label)
    axes.set(xlabel="x")
    text = "".join(f" with {key}={text_of(each)}" for key, each in given.items())
    if len(names) == 1:
        return drawing([axes], f"Values of `{function.__name__}`{text}.")
    axes.legend()
    given_to = "(x, 0, 1)" if len(names) == 3 else "the element x"
    return drawing([axes], f"Elements of the result of `{function.__name__}` for {given_to}.")


#: Batches of one example as a function of a number: what they are, and the first two arguments.
_LOSSES: tuple[tuple[str, Callable[[float], tuple[np.ndarray, ...]]], ...] = (
    ("{0} of one element and {1} = 0", lambda s: (np.array([[s]]), np.array([[0.0]]))),
    ("scores (x, 0) of two classes and label 0", lambda s: (np.array([[s, 0.0]]), np.array([0]))),
    ("a score of one element and label 1", lambda s: (np.array([[s]]), np.array([[1]]))),
)

#: Name of a further argument -> an example of it.
_FURTHER: dict[str, Any] = {
    "delta": 1.0,
    "margin": 1.0,
    "ln_var": np.array([[0.0]]),
    "negative": np.array([[1.0]]),
    "y": np.array([1]),
}


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
        options = "".join(f", {key} = {text_of(value)}" for key, value in further.items())
        return drawing([axes], f"`{label}` of {text.format(*names)}{options}.")
    return None
