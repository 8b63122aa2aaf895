"""A signal, an image or a volume before and after a function, and images after a transform."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import chainer
from scripts.site.names import Name
from scripts.site.pictures.figures import MAIN, Drawing, drawing, new_axes, show_image, text_of

#: Filter that finds edges.
_EDGES = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
#: The whole image moves by one pixel down and by half a pixel to the right.
_OFFSETS = np.repeat(np.array([0.5, 1.0], np.float32), 9)[None, :, None, None]

#: Names of arguments -> examples of them, for an image, a signal and a volume.
_ARRAYS: tuple[dict[str, Any], ...] = (
    {
        "W": _EDGES[None, None],
        "offset": np.broadcast_to(_OFFSETS, (1, 18, 6, 6)).copy(),
        "rois": np.array([[0, 0, 5, 5]], np.float32),
        "roi_indices": np.zeros(1, np.int32),
        "grid": np.stack(np.meshgrid(np.linspace(-1, 0.5, 8), np.linspace(-1, 0.5, 8)))[
            None
        ].astype(np.float32),
    },
    {"W": np.array([[[-1.0, 0.0, 1.0]]], np.float32)},
    {"W": np.ones((1, 1, 2, 2, 2), np.float32) / 8},
    # Other forms of the same arguments: regions with the index of their image, a filter for each
    # place.
    {
        "rois": np.array([[0, 0, 0, 5, 5]], np.float32),
        "W": _EDGES * np.linspace(0, 1, 36, dtype=np.float32).reshape(1, 6, 6, 1, 1, 1),
    },
)

#: Name of an argument -> an example of it.
_ARGUMENTS: dict[str, Any] = {
    "output_size": 3,
    "outh": 3,
    "outw": 3,
    "spatial_scale": 1.0,
    "block_size": 2,
    "ksize": 2,
    "output_shape": (12, 12),
    "outsize": (3, 3),
    "pad_width": ((0, 0), (0, 0), (2, 2), (2, 2)),
    "mode": "reflect",
    "pyramid_height": 2,
    "r": 2,
    "size": 20,
    "crop_size": 20,
    "length": 10,
    "brightness": 0.4,
    "mean": 0.5,
    "std": 0.25,
}


def _scene(size: int) -> np.ndarray:
    """Returns an image of three channels: a slope with a disk and a bar."""
    y, x = np.mgrid[0:size, 0:size] / (size - 1)
    image = np.stack([x, y, 1 - x])
    image[:, np.hypot(x - 0.35, y - 0.4) < 0.22] = np.array([[0.95], [0.75], [0.1]])
    image[:, (x > 0.65) & (x < 0.8) & (y > 0.2)] = np.array([[0.1], [0.2], [0.3]])
    return image.astype(np.float32)


def _signal() -> np.ndarray:
    """Returns a signal of two bumps."""
    place = np.arange(24)
    bumps = np.exp(-((place - 6) ** 2) / 6) + 0.6 * (np.abs(place - 16) < 4)
    return bumps.astype(np.float32)


def _volume() -> np.ndarray:
    """Returns a ball in a cube of 8 x 8 x 8."""
    z, y, x = np.mgrid[0:8, 0:8, 0:8]
    return (np.sqrt((z - 3.5) ** 2 + (y - 3) ** 2 + (x - 3) ** 2) < 3).astype(np.float32)


def draw(name: Name, value: object) -> Drawing | None:
    """Draws what pooling, convolutions, resizing and image transforms do."""
    if name.public.startswith("chainer.datasets.transforms.") and inspect.isclass(value):
        return _transform(value)
    parts = name.canonical.split(".")
    folders = [["chainer", "functions", each] for each in ("pooling", "connection", "array")]
    return _function(value) if parts[:3] in folders and inspect.isfunction(value) else None


def _given(
    value: Callable[..., Any], skip: int, optional: bool, known: dict[str, Any]
) -> dict[str, Any] | None:
    """Returns examples of the arguments of a call; None if one that it needs is not known."""
    given = {}
    for parameter in list(inspect.signature(value).parameters.values())[skip:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        needed = parameter.default is parameter.empty
        if parameter.name in known and (needed or optional):
            given[parameter.name] = known[parameter.name]
        elif needed:
            return None
    return given


def _function(function: Callable[..., Any]) -> Drawing | None:
    image, signal, volume = _scene(8)[:1], _signal()[None], _volume()[None]
    # Upsampling needs the places that a pooling has returned.
    pooled, places = chainer.functions.max_pooling_2d(image[None], 2, return_indices=True)
    choices = (
        (image, _ARRAYS[0]),
        (image, _ARRAYS[0] | _ARRAYS[3]),
        (pooled.array[0], {"indexes": places}),
        (signal, _ARRAYS[1]),
        (volume, _ARRAYS[2]),
    )
    first = next(iter(inspect.signature(function).parameters))
    for x, arrays in choices:
        given = _given(function, 1, optional=False, known=_ARGUMENTS | arrays)
        if given is None or first in arrays:
            continue
        try:
            result = function(x[None], **given)
        except Exception:  # not a function of such an image
            continue
        if isinstance(result, tuple):
            result = result[0]
        array = getattr(result, "array", None)
        if not isinstance(array, np.ndarray) or np.array_equal(array, x[None]):
            continue
        axes = _before_and_after(x, array)
        if axes is not None:
            call = ", ".join([first, *(f"{key}={text_of(each)}" for key, each in given.items())])
            what = ("A signal", "An image", "Planes of a volume")[x.ndim - 2]
            return drawing(axes, f"{what}, and the result of `{function.__name__}({call})`.")
    return None


def _before_and_after(x: np.ndarray, result: np.ndarray) -> list[Any] | None:
    """Draws a signal, an image or a volume with one channel, and one that was made of it."""
    if x.ndim == 3 and result.shape[:1] + result.shape[2:] == (1, 1, 1) and result.size > 1:
        # A vector of channels.
        axes = new_axes(2, height=2.2)
        show_image(axes[0], x[0], _size(x))
        show_image(axes[1], result.reshape(-1, 1), f"{result.shape[1]} channels")
        return axes
    if result.ndim != x.ndim + 1 or len(result) != 1 or min(result.shape[2:]) < 2:
        return None
    if x.ndim == 2:
        axes = new_axes(2, height=2.2)
        for each, values, label in zip(axes, (x[0], result[0, 0]), ("x", "result"), strict=True):
            each.stem(values, linefmt=MAIN, markerfmt=".", basefmt=" ")
            each.set(title=f"{label}: {len(values)}")
        return axes
    if x.ndim == 4:
        axes = new_axes(4, height=2.2)
        for k, (label, planes) in enumerate((("x", x[0]), ("result", result[0, 0]))):
            for i, place in enumerate((len(planes) // 4, len(planes) // 2)):
                title = f"{label}[{place}] of {_size(planes[None])}"
                show_image(axes[2 * k + i], planes[place], title)
        return axes
    channels = min(result.shape[1], 2)
    axes = new_axes(1 + channels, height=2.2)
    show_image(axes[0], x[0], _size(x))
    for i in range(channels):
        title = _size(result[0]) + (f", channel {i}" if result.shape[1] > 1 else "")
        show_image(axes[i + 1], result[0, i], title)
    return axes


def _size(array: np.ndarray) -> str:
    """Returns the size of an image or a volume as text, without its channels."""
    return " x ".join(map(str, array.shape[1:]))


def _transform(cls: type[Any]) -> Drawing | None:
    given = _given(cls, 0, optional=True, known=_ARGUMENTS)
    if given is None:
        return None
    scene = _scene(32)
    chainer.utils.seed(3)
    transform: Any = cls(**given)
    try:
        results = [np.asarray(transform(scene.copy())) for _ in range(10)]
    except Exception:  # not a transform of one image
        return None
    changed = [result for result in results if not np.array_equal(result, scene)]
    if not changed or any(result.ndim != 3 or len(result) != 3 for result in changed):
        return None
    same = all(np.array_equal(changed[0], result) for result in changed)
    shown = changed[:1] if same else changed[:2]
    axes = new_axes(1 + len(shown), height=2.2)
    show_image(axes[0], scene.transpose(1, 2, 0), "image")
    for each, result in zip(axes[1:], shown, strict=True):
        show_image(each, np.clip(result, 0, 1).transpose(1, 2, 0), "x".join(map(str, result.shape)))
    arguments = ", ".join(f"{key}={each!r}" for key, each in given.items())
    calls = "the result" if same else "the results of two calls"
    return drawing(axes, f"An image, and {calls} of `{cls.__name__}({arguments})`.")
