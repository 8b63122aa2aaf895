"""A picture before and after a function or a transform of images."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import chainer
from scripts.site.names import Name
from scripts.site.pictures.figures import Drawing, drawing, new_axes, show_image

#: Name of an argument -> an example of it.
_ARGUMENTS: dict[str, Any] = {
    "block_size": 2,
    "ksize": 2,
    "output_shape": (12, 12),
    "outsize": (4, 4),
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


def draw(name: Name, value: object) -> Drawing | None:
    """Draws what pooling, resizing and image transforms do."""
    if name.public.startswith("chainer.datasets.transforms.") and inspect.isclass(value):
        return _transform(value)
    parts = name.canonical.split(".")
    folders = (["chainer", "functions", "pooling"], ["chainer", "functions", "array"])
    return _function(value) if parts[:3] in folders and inspect.isfunction(value) else None


def _given(value: Callable[..., Any], skip: int, optional: bool) -> dict[str, Any] | None:
    """Returns examples of the arguments of a call; None if one that it needs is not known."""
    given = {}
    for parameter in list(inspect.signature(value).parameters.values())[skip:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        needed = parameter.default is parameter.empty
        if parameter.name in _ARGUMENTS and (needed or optional):
            given[parameter.name] = _ARGUMENTS[parameter.name]
        elif needed:
            return None
    return given


def _function(function: Callable[..., Any]) -> Drawing | None:
    given = _given(function, 1, optional=False)
    if not given:
        return None
    scene = _scene(8)[:1]
    try:
        result = function(scene[None], **given)
    except Exception:  # not a function of images
        return None
    if isinstance(result, tuple):
        result = result[0]
    shape = getattr(result, "shape", ())
    if len(shape) != 4 or shape[0] != 1 or min(shape[2:]) < 2:
        return None
    channels = min(shape[1], 2)
    axes = new_axes(1 + channels, height=2.2)
    show_image(axes[0], scene[0], "8 x 8")
    for i in range(channels):
        title = f"{shape[2]} x {shape[3]}" + (f", channel {i}" if shape[1] > 1 else "")
        show_image(axes[i + 1], result.array[0, i], title)
    arguments = ", ".join(f"{key}={each!r}" for key, each in given.items())
    return drawing(axes, f"An image, and the result of `{function.__name__}(x, {arguments})`.")


def _transform(cls: type[Any]) -> Drawing | None:
    given = _given(cls, 0, optional=True)
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
