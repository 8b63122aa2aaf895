"""Geometry of sliding windows: sizes of outputs, and the padding behind that oneDNN needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ideep4py._core import layout as L
from ideep4py.ops._inputs import per_axis


@dataclass(frozen=True, slots=True)
class Window:
    """A window over the spatial axes; every field has one value per axis.

    Attributes:
        kernel: size.
        stride: step.
        pad: padding in front.
        pad_after: padding behind.
        dilate: distance of neighboring elements (1: none left out).
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    pad_after: tuple[int, ...]
    dilate: tuple[int, ...]

    def extent(self) -> tuple[int, ...]:
        """Number of input elements from the first to the last that one window sees."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilate, strict=True))

    def out_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """Number of windows that fit into an input of ``size``."""
        rows = zip(size, self.extent(), self.stride, self.pad, self.pad_after, strict=True)
        return tuple((n + a + b - e) // s + 1 for n, e, s, a, b in rows)

    def with_out_size(self, size: tuple[int, ...], out: tuple[int, ...]) -> Window:
        """The window whose padding behind is just what ``out`` windows on an input of ``size``
        need.
        """
        rows = zip(size, out, self.extent(), self.stride, self.pad, strict=True)
        # Without the bound, inputs behind the last window would count as negative padding.
        after = tuple(max((o - 1) * s + e - n - a, 0) for n, o, e, s, a in rows)
        return Window(self.kernel, self.stride, self.pad, after, self.dilate)

    def check(self, size: tuple[int, ...], out: tuple[int, ...], what: str) -> None:
        """Raises ValueError unless ``out`` windows fit on an input of ``size``."""
        if min(out, default=1) < 1 or self.out_size(size) != tuple(out):
            raise ValueError(
                f"{what}: an input of size {size} with {self} has output size "
                f"{self.out_size(size)}, not {tuple(out)}"
            )


def make_window(
    kernel: tuple[int, ...], stride: Any, pad: Any, dilate: Any, pad_after: Any
) -> Window:
    """A window from one value, or one per axis, for each attribute; ``pad_after=None`` means
    ``pad``.
    """
    n = len(kernel)
    before = per_axis(pad, n, "pad", 0)
    after = before if pad_after is None else per_axis(pad_after, n, "pad_after", 0)
    return Window(
        kernel, per_axis(stride, n, "stride", 1), before, after, per_axis(dilate, n, "dilate", 1)
    )


def window_dims(window: Window) -> tuple[Any, Any, Any, Any]:
    """Strides, dilations (0: none), padding in front and behind, for C."""
    return (
        L.c_dims(window.stride),
        # oneDNN counts the elements that are left out between two elements of the window.
        L.c_dims([d - 1 for d in window.dilate]),
        L.c_dims(window.pad),
        L.c_dims(window.pad_after),
    )
