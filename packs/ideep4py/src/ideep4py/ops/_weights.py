"""Filters of convolutions: groups, checks, and conversion to and from oneDNN's layouts."""

from __future__ import annotations

from typing import Any

from ideep4py._core import layout as L
from ideep4py._core.reorder import Data, densified, in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._windows import Window, make_window


def grouped(shape: tuple[int, ...], groups: int) -> tuple[int, ...]:
    """The shape of weights as oneDNN has it: a leading axis for more than one group."""
    return shape if groups == 1 else (groups, shape[0] // groups, *shape[1:])


def weights_in(w: Data, layout: L.Layout, groups: int) -> Any:
    """Pointer to weights in the layout that a primitive chose."""
    if w[0] is layout:
        return w[1]
    if groups > 1:
        # The axis of filters is split in two: blocks of filters may extend over a border of groups.
        _, pointer = densified(w)
        w = L.dense(grouped(w[0].shape, groups), w[0].data_type), pointer
    return in_layout(w, layout)


def weights_out(layout: L.Layout, pointer: Any, shape: tuple[int, ...], groups: int) -> mdarray:
    """Gradient of weights as an array: in its own layout, or dense when there are groups."""
    if groups == 1:
        return wrap(layout, pointer)
    _, pointer = densified((layout, pointer))
    return wrap(L.dense(shape, layout.data_type), pointer)


def check_weights(x: tuple[int, ...], w: tuple[int, ...], groups: int) -> None:
    """Raises ValueError unless filters of shape ``w`` fit an input of shape ``x``."""
    if not 3 <= len(x) <= 5 or len(w) != len(x):
        raise ValueError(f"x and W must have 3, 4 or 5 axes alike, got shapes {x} and {w}")
    if groups < 1 or x[1] % groups or w[0] % groups:
        raise ValueError(f"groups={groups} does not divide the channels of x {x} and W {w}")
    if x[1] != w[1] * groups:
        raise ValueError(
            f"W of shape {w} with groups={groups} needs {w[1] * groups} input channels, "
            f"x has {x[1]}"
        )


def backward_window(
    gy: tuple[int, ...],
    w: tuple[int, ...],
    x: tuple[int, ...],
    stride: Any,
    pad: Any,
    dilate: Any,
    groups: int,
) -> Window:
    """The window of a convolution whose shapes are all known.

    Raises:
        ValueError: the shapes do not belong together.
    """
    check_weights(x, w, groups)
    if len(gy) != len(x) or gy[:2] != (x[0], w[0]):
        raise ValueError(f"gy must have shape ({x[0]}, {w[0]}, ...) for x {x} and W {w}, got {gy}")
    window = make_window(w[2:], stride, pad, dilate, None).with_out_size(x[2:], gy[2:])
    window.check(x[2:], gy[2:], "gradient of a convolution")
    return window
