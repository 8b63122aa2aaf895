"""Paths of optimizers, with and without hooks, over a surface with a curved valley."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from matplotlib.axes import Axes

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


#: Name of an argument of a hook -> an example of it.
_OF_HOOKS: dict[str, float] = {
    "threshold": 0.5,
    "lower_bound": -0.5,
    "upper_bound": 0.5,
    "eta": 20.0,
    "rate": 1.0,
}


def draw(name: Name, value: object) -> Drawing | None:
    """Draws the path of an optimizer, or what a hook changes of one."""
    if name.public.startswith("chainer.optimizer_hooks."):
        return _hook(value)
    if not _is_complete(value):
        return None
    optimizer: Any = value()  # pyright: ignore
    given = ""
    for attribute, rate in _RATES.items():
        if attribute in optimizer.hyperparam.get_dict():
            setattr(optimizer, attribute, rate)
            given = f"{attribute}={rate}"
            break
    places = _path(optimizer, None)
    if places is None:
        return None
    axes = _surface()
    axes.plot(*places.T, color=MAIN, marker=".", markersize=3, linewidth=1)
    caption = (
        f"Path of `{type(optimizer).__name__}({given})` in {_STEPS} updates over the function "
        f"{_FORMULA}, whose lowest point is the star."
    )
    return drawing([axes], caption)


_FORMULA = "(1 - x)² + 4 (y - x²)²"


def _hook(cls: Any) -> Drawing | None:
    given: dict[str, float] = {}
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name in _OF_HOOKS:
            given[parameter.name] = _OF_HOOKS[parameter.name]
        elif parameter.default is parameter.empty:
            return None
    paths = [_path(chainer.optimizers.SGD(0.02), hook) for hook in (None, cls(**given))]
    if any(path is None for path in paths):
        return None
    axes = _surface()
    for path, label, color, style in zip(
        paths, ("SGD", cls.__name__), (NEUTRAL, MAIN), ("--", "-"), strict=True
    ):
        assert path is not None
        axes.plot(*path.T, style, color=color, marker=".", markersize=3, linewidth=1, label=label)
    axes.legend()
    call = ", ".join(f"{key}={each:g}" for key, each in given.items())
    caption = (
        f"Paths of `SGD(0.02)` without the hook and with `{cls.__name__}({call})`, over the "
        f"function {_FORMULA}, whose lowest point is the star."
    )
    return drawing([axes], caption)


def _path(optimizer: Any, hook: Any) -> np.ndarray | None:
    """Returns the places that an optimizer reaches; None if it is one for other parameters."""
    model = _Point()
    np.random.seed(0)
    optimizer.setup(model)
    if hook is not None:
        optimizer.add_hook(hook)
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
    return places if np.isfinite(places).all() else None


def _surface() -> Axes:
    """Returns axes with lines of equal height and the lowest point."""
    x, y = np.meshgrid(np.linspace(-2, 2, 120), np.linspace(-0.8, 2.6, 100))
    (axes,) = new_axes(height=3.0)
    axes.contour(
        x, y, np.log1p(_height(x, y)), levels=10, colors=NEUTRAL, linewidths=0.6, alpha=0.7
    )
    axes.plot(1, 1, "*", color=SECOND, markersize=12)
    axes.set(xlim=(-2, 2), ylim=(-0.8, 2.6), xlabel="first parameter", ylabel="second parameter")
    axes.grid(False)
    return axes
