"""Paths of optimizers over a surface with a curved valley."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

import chainer
from scripts.site.names import Name
from scripts.site.pictures.figures import MAIN, NEUTRAL, SECOND, Drawing, drawing, new_axes

_STEPS = 150
_START = (-1.4, 1.6)
#: Rates that reach the valley: an optimizer has the first or the second.
_RATES = {"lr": 0.01, "alpha": 0.1}


class _Point(chainer.Link):
    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            # One row of a matrix: some optimizers update matrices in another way.
            self.place = chainer.Parameter(np.array([_START], np.float64))

    def forward(self) -> chainer.Variable:
        return _height(self.place[0, 0], self.place[0, 1])


def _height(x: Any, y: Any) -> Any:
    """Returns Rosenbrock's function with a flatter valley, whose lowest point is (1, 1)."""
    return (1 - x) ** 2 + 4 * (y - x * x) ** 2


def _is_complete(value: object) -> bool:
    """Returns whether a value is a class of optimizers, other than the base classes."""
    bases = (chainer.Optimizer, chainer.GradientMethod)
    return inspect.isclass(value) and issubclass(value, chainer.Optimizer) and value not in bases


def draw(name: Name, value: object) -> Drawing | None:
    """Draws the path of an optimizer."""
    if not _is_complete(value):
        return None
    optimizer: Any = value()  # pyright: ignore
    given = ""
    for attribute, rate in _RATES.items():
        if attribute in optimizer.hyperparam.get_dict():
            setattr(optimizer, attribute, rate)
            given = f"{attribute}={rate}"
            break
    model = _Point()
    optimizer.setup(model)
    path = [model.place.array[0].copy()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for _ in range(_STEPS):
                optimizer.update(model)
                path.append(model.place.array[0].copy())
        except Exception:  # an optimizer for other parameters
            return None
    places = np.array(path)
    if not np.isfinite(places).all():
        return None
    x, y = np.meshgrid(np.linspace(-2, 2, 120), np.linspace(-0.8, 2.6, 100))
    (axes,) = new_axes(height=3.0)
    axes.contour(
        x, y, np.log1p(_height(x, y)), levels=10, colors=NEUTRAL, linewidths=0.6, alpha=0.7
    )
    axes.plot(*places.T, color=MAIN, marker=".", markersize=3, linewidth=1)
    axes.plot(1, 1, "*", color=SECOND, markersize=12)
    axes.set(xlim=(-2, 2), ylim=(-0.8, 2.6), xlabel="first parameter", ylabel="second parameter")
    axes.grid(False)
    caption = (
        f"Path of `{type(optimizer).__name__}({given})` in {_STEPS} updates over the function "
        "(1 - x)² + 4 (y - x²)², whose lowest point is the star."
    )
    return drawing([axes], caption)
