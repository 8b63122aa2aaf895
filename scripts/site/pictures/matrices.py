"""A matrix before and after a function: arrays, noise, normalization, attention."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

import chainer
from scripts.site.names import Name
from scripts.site.pictures.figures import Drawing, drawing, new_axes, show_image, text_of

_ROWS, _COLUMNS = 6, 8
_GRID = np.add.outer(np.arange(_ROWS), 0.7 * np.arange(_COLUMNS)).astype(np.float32)
_RANDOM = np.random.RandomState(1)
#: Rows and columns of different means and sizes, which a normalization makes alike.
_UNEVEN = (
    _RANDOM.normal(size=(_ROWS, _COLUMNS)) * np.linspace(0.5, 2, _COLUMNS)
    + np.linspace(-2, 2, _COLUMNS)
    + np.linspace(-1, 2, _ROWS)[:, None]
).astype(np.float32)
_CHANNELS = np.ones(_COLUMNS, np.float32)
#: The same as examples of two channels with four positions.
_SEQUENCES = _UNEVEN.reshape(_ROWS, 2, _COLUMNS // 2)

#: Folder of functions -> name of an argument -> examples of it, tried in order. Lists of arrays are
#: shown with bars between them.
_ARGUMENTS: dict[str, dict[str, tuple[Any, ...]]] = {
    "array": {
        "x": (_GRID,),
        "a": (_GRID,),
        "xs": ([_GRID, _GRID[::-1]],),
        "axis": (1,),
        "axis1": (0,),
        "axis2": (1,),
        "source": (0,),
        "destination": (1,),
        "indices": (np.array([5, 3, 1, 4, 2, 0]),),
        "reps": (2,),
        "shape": ((_ROWS // 2, 2 * _COLUMNS),),
        "condition": (_GRID > 5,),
        "y": (_GRID[::-1],),
        "slices": ((slice(None, None, 2), slice(2, 6)),),
    },
    "noise": {
        "x": (_GRID,),
        "h": (_GRID[::-1],),
        "mean": (_GRID,),
        "ln_var": (np.zeros_like(_GRID),),
        "log_pi": (_GRID / 4,),
    },
    "normalization": {
        "x": (_UNEVEN, _SEQUENCES),
        "gamma": (_CHANNELS, _CHANNELS[:2]),
        "beta": (0 * _CHANNELS, 0 * _CHANNELS[:2]),
        "groups": (2, 1),
        "mean": (_UNEVEN.mean(axis=0),),
        "var": (_UNEVEN.var(axis=0),),
        "rmax": (3.0,),
        "dmax": (5.0,),
        "projection": (),
    },
    "attention": {
        "x": (np.ones((32, 16), np.float32), np.ones((1, 1, 32, 16), np.float32)),
        "q": (_RANDOM.normal(size=(1, 1, 10, 4)).astype(np.float32),),
        "k": (_RANDOM.normal(size=(1, 1, 10, 4)).astype(np.float32),),
        # Of the unit matrix as values, attention returns its weights.
        "v": (np.eye(10, dtype=np.float32)[None, None],),
        "slopes": (1,),
        "table": (np.arange(32, dtype=np.float32)[:, None],),
        "n_queries": (12,),
        "n_keys": (12,),
        "positions": (np.arange(32),),
        "size": (16,),
    },
}
#: Optional arguments without which there would be nothing to see.
_OPTIONAL = {"attention": {"causal": True}, "noise": {"ratio": 0.5}}
#: Folders whose functions may return examples of several axes: they are shown as rows.
_ROWS_OF_AXES = ("normalization",)


def draw(name: Name, value: object) -> Drawing | None:
    """Draws the arguments of a function and what it returns, where both are matrices."""
    parts = name.canonical.split(".")
    if parts[:2] != ["chainer", "functions"] or not inspect.isfunction(value):
        return None
    folder = parts[2]
    if folder not in _ARGUMENTS:
        return None
    for given in _choices(value, folder):
        results = _results(value, folder, given)
        if results:
            return _drawing(value, folder, given, results)
    return None


def _choices(function: Callable[..., Any], folder: str) -> Iterator[dict[str, Any]]:
    """Yields examples of the arguments of a call; nothing if one that it needs is not known."""
    known, names = _ARGUMENTS[folder], list[str]()
    extra = dict[str, Any]()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            if parameter.name not in known:
                return
            names.append(parameter.name)
        elif parameter.name in _OPTIONAL.get(folder, ()):
            extra[parameter.name] = _OPTIONAL[folder][parameter.name]
    for values in product(*(known[each] for each in names)):
        yield dict(zip(names, values, strict=True)) | extra


def _results(function: Callable[..., Any], folder: str, given: dict[str, Any]) -> list[np.ndarray]:
    """Returns the matrices that a call gives; an empty list if it gives others."""
    chainer.utils.seed(1)
    try:
        with np.errstate(all="ignore"), chainer.using_config("train", True):
            results = function(**given)
    except Exception:  # not a function of such arguments, whatever it says
        return []
    found = results if isinstance(results, (tuple, list)) else [results]
    matrices = [_matrix(each, folder) for each in found]
    first = next(iter(given.values()))
    shown = [each for each in matrices if each is not None]
    if len(shown) != len(matrices) or not 1 <= len(shown) <= 3:
        return []
    same = isinstance(first, np.ndarray) and any(np.array_equal(first, each) for each in shown)
    return [] if same or any(np.ptp(each) == 0 for each in shown) else shown


def _matrix(value: Any, folder: str) -> np.ndarray | None:
    """Returns an array as a matrix to look at; None if it is none.

    Axes of length 1 before the last two are left out.
    """
    array = getattr(value, "array", value)
    if not isinstance(array, np.ndarray) or array.ndim < 2 or array.dtype.kind not in "fiub":
        return None
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    if array.ndim > 2 and folder not in _ROWS_OF_AXES:
        return None
    array = array.reshape(len(array), -1).astype(np.float64)
    return array if min(array.shape) > 1 and np.isfinite(array).all() else None


def _drawing(
    function: Callable[..., Any], folder: str, given: dict[str, Any], results: list[np.ndarray]
) -> Drawing:
    panels: list[tuple[str, np.ndarray]] = []
    text: list[str] = []
    for key, value in given.items():
        arrays = value if isinstance(value, list) else [value]
        matrices = [_matrix(each, folder) for each in arrays]
        # Of one number everywhere there is nothing to see.
        seen = [each for each in matrices if each is not None and np.ptp(each) > 0]
        if len(seen) == len(arrays):
            titles = [key] if len(seen) == 1 else [f"{key}[{i}]" for i in range(len(seen))]
            panels += zip(titles, seen, strict=True)
            text.append(key)
        else:
            text.append(f"{key}={text_of(value)}")
    names = ["result"] if len(results) == 1 else [f"result {i}" for i in range(len(results))]
    shown = [*panels[:3], *zip(names, results, strict=True)]
    axes = new_axes(len(shown), height=2.2)
    for each, (title, matrix) in zip(axes, shown, strict=True):
        show_image(each, matrix, f"{title}: {' x '.join(map(str, matrix.shape))}")
    call = f"{function.__name__}({', '.join(text)})"
    before = "Matrices before and after" if panels else "The result of"
    return drawing(axes, f"{before} `{call}`. Larger values are brighter.")
