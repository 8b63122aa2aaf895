"""Distributions, and the values that initializers draw."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import chainer
from scripts.site.names import Name
from scripts.site.pictures.figures import MAIN, SECOND, Drawing, drawing, new_axes, show_image

#: Name of a parameter of a distribution -> two values of it.
_PARAMETERS: dict[str, tuple[float, float]] = {
    "a": (2.0, 5.0),
    "alpha": (2.0, 4.0),
    "b": (2.0, 1.5),
    "df": (3, 6),
    "k": (2.0, 5.0),
    "lam": (1.0, 4.0),
    "loc": (0.0, 1.0),
    "mu": (0.0, 0.5),
    "p": (0.3, 0.7),
    "scale": (1.0, 0.5),
    "sigma": (0.5, 1.0),
    "theta": (1.0, 0.5),
    "low": (-1.0, 0.0),
    "high": (1.0, 2.0),
}


def draw(name: Name, value: object) -> Drawing | None:
    """Draws the density of a distribution, or the values that an initializer draws."""
    if not inspect.isclass(value):
        return None
    if issubclass(value, chainer.Distribution):
        return _distribution(value)
    if issubclass(value, chainer.Initializer):
        return _initializer(value)
    return None


def _made(cls: type[Any], choice: int) -> tuple[Any, str] | None:
    """Returns a distribution of one number, and the text of its parameters."""
    names = [name for name in inspect.signature(cls).parameters if name in _PARAMETERS]
    # Some have two ways to give their parameters: the first two serve.
    for number in (len(names), 2):
        given = {name: np.float32(_PARAMETERS[name][choice]) for name in names[:number]}
        try:
            made = cls(**given)
            if made.sample(1).shape == (1,):
                return made, ", ".join(f"{key} = {value:g}" for key, value in given.items())
        except Exception:  # parameters of other shapes: nothing to draw on one axis
            continue
    return None


def _distribution(cls: type[Any]) -> Drawing | None:
    made = [found for found in (_made(cls, 0), _made(cls, 1)) if found is not None]
    if not made:
        return None
    np.random.seed(0)
    samples = [np.ravel(dist.sample(4000).array) for dist, _ in made]
    discrete = all(np.array_equal(sample, np.round(sample)) for sample in samples)
    joined = np.concatenate(samples)
    low, high = np.percentile(joined, [1, 99])
    (axes,) = new_axes()
    for (dist, text), color, marker in zip(made, (MAIN, SECOND), "os", strict=False):
        if discrete:
            x = np.arange(int(low), int(high) + 1)
        else:
            x = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), 300)
        with np.errstate(all="ignore"):
            try:
                density = np.exp(dist.log_prob(x.astype(joined.dtype)).array)
            except Exception:  # it has no density
                return None
        if discrete:
            axes.vlines(x, 0, density, color=color, alpha=0.5)
            axes.plot(x, density, marker, color=color, label=text)
        else:
            axes.plot(x, density, "-" if color == MAIN else "--", color=color, label=text)
    axes.set(xlabel="value", ylabel="probability" if discrete else "density", ylim=(0, None))
    axes.legend()
    what = "Probabilities" if discrete else "Densities"
    return drawing([axes], f"{what} of `{cls.__name__}` for two choices of its parameters.")


def _initializer(cls: type[Any]) -> Drawing | None:
    shape = (64, 32)
    array = np.zeros(shape, np.float32)
    np.random.seed(0)
    try:
        cls()(array)
    except Exception:  # it needs arguments, or an array of another shape
        return None
    if not np.isfinite(array).all() or np.ptp(array) == 0:
        return None
    left, right = new_axes(2)
    show_image(left, array[:32], "32 rows")
    right.hist(array.ravel(), bins=40, color=MAIN)
    right.set(xlabel="value", ylabel="number of elements")
    return drawing(
        [left, right], f"Values that `{cls.__name__}()` gives an array of shape {shape}."
    )
