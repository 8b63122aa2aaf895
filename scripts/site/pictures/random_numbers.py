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
        return _vectors(cls)
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


#: Name of a parameter of a distribution of vectors or of categories -> an example of it.
_OF_VECTORS: dict[str, Any] = {
    "p": np.array([0.5, 0.1, 0.4], np.float32),
    "alpha": np.array([2.0, 4.0, 3.0], np.float32),
    "loc": np.array([0.0, 1.0], np.float32),
    "scale_tril": np.array([[1.0, 0.0], [0.8, 0.5]], np.float32),
}


def _vectors(cls: type[Any]) -> Drawing | None:
    """Draws samples of a distribution of vectors, or the probabilities of categories."""
    names = [name for name in inspect.signature(cls).parameters if name in _OF_VECTORS]
    given = {name: _OF_VECTORS[name] for name in names}
    if "distribution" in inspect.signature(cls).parameters:
        wide = np.array([1.0, 0.4], np.float32)
        given = {"distribution": chainer.distributions.Normal(_OF_VECTORS["loc"], wide)}
    np.random.seed(0)
    try:
        samples = np.asarray(cls(**given).sample(1000).array)
    except Exception:  # it needs other parameters
        return None
    text = ", ".join(f"{key}={_parameter_text(each)}" for key, each in given.items())
    if samples.ndim == 2 and np.isin(samples, (0, 1)).all():
        samples = samples.argmax(axis=1)
    (axes,) = new_axes(height=3.0)
    if samples.ndim == 1:
        numbers = np.bincount(samples.astype(int))
        axes.bar(range(len(numbers)), numbers, color=MAIN)
        axes.set(xlabel="category", ylabel="number of samples", xticks=range(len(numbers)))
        return drawing([axes], f"1000 samples of `{cls.__name__}({text})`.")
    if samples.ndim != 2 or samples.shape[1] < 2:
        return None
    axes.plot(*samples[:, :2].T, ".", color=MAIN, markersize=3, alpha=0.5)
    axes.set(xlabel="first element", ylabel="second element")
    return drawing([axes], f"1000 samples of `{cls.__name__}({text})`.")


def _parameter_text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(value.astype(np.float64).round(3).tolist())
    # A distribution as a parameter of another one.
    parts = {"loc": value.loc, "scale": value.scale}
    given = ", ".join(f"{key}={_parameter_text(each.array)}" for key, each in parts.items())
    return f"{type(value).__name__}({given})"


def _filled(cls: type[Any]) -> np.ndarray | None:
    """Returns the first array of some shapes that an initializer fills."""
    for shape in ((64, 32), (16, 16), (1, 1, 8, 8)):
        array = np.zeros(shape, np.float32)
        np.random.seed(0)
        try:
            cls()(array)
        except Exception:  # it needs arguments, or an array of another shape
            continue
        return array
    return None


def _initializer(cls: type[Any]) -> Drawing | None:
    array = _filled(cls)
    if array is None or not np.isfinite(array).all() or np.ptp(array) == 0:
        return None
    shape = array.shape
    if shape != (64, 32):
        (axes,) = new_axes(height=2.2)
        show_image(axes, array.reshape(array.shape[-2:]), " x ".join(map(str, shape)))
        text = f"Values that `{cls.__name__}()` gives an array of shape {shape}."
        return drawing([axes], f"{text} Larger values are brighter.")
    left, right = new_axes(2)
    show_image(left, array[:32], "32 rows")
    right.hist(array.ravel(), bins=40, color=MAIN)
    right.set(xlabel="value", ylabel="number of elements")
    return drawing(
        [left, right], f"Values that `{cls.__name__}()` gives an array of shape {shape}."
    )
