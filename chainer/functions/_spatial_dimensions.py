"""Spatial dimensions of images: checks, and the attributes of functions that have windows."""

from __future__ import annotations

from typing import Protocol

from chainer.core.autograd.variable import shape_of
from chainer.core.typing import Shape, VariableLike
from chainer.core.utils.conv import OutputSizeError

#: Names of the dimensions of two-dimensional images, for :func:`check_out_size`.
HEIGHT_AND_WIDTH = ("Height", "Width")


def check_spatial_ndim(x: VariableLike, ndim: int) -> None:
    """Checks the number of dimensions that follow the batch and channel dimensions.

    Args:
        x: Input.
        ndim: Expected number of spatial dimensions.

    Raises:
        ValueError: If ``x`` has another number of them.
    """
    # Fewer than two dimensions count as no spatial ones, as they did in earlier releases.
    actual = len(shape_of(x)[2:])
    if actual != ndim:
        raise ValueError(
            "The number of dimensions under channel dimension of the input 'x' should be "
            f"{ndim}. But the actual ndim was {actual}."
        )


def check_out_size(out_size: Shape, names: tuple[str, ...] = ()) -> None:
    """Checks that an output has elements.

    Args:
        out_size: Spatial size of the output.
        names: Names of the dimensions, for the message; empty if they have none.

    Raises:
        OutputSizeError: If a size is not positive. It is a ValueError and an AssertionError, too,
            which programs that try sizes catch.
    """
    if min(out_size, default=1) > 0:
        return
    if not names:
        raise OutputSizeError(f"Output sizes should be positive. Actual: {out_size}")
    for name, size in zip(names, out_size, strict=True):
        if size <= 0:
            raise OutputSizeError(f"{name} in the output should be positive. Actual: {size}")


def component(attribute: str, index: int, doc: str) -> property:
    """Returns a property for one element of an attribute, by the name that release 4 gave it.

    Args:
        attribute: Name of an attribute that is a tuple.
        index: Which element.
        doc: Documentation of the property.
    """
    return property(lambda self: getattr(self, attribute)[index], doc=doc)


class _Geometry(Protocol):
    @property
    def stride(self) -> Shape: ...

    @property
    def pad(self) -> Shape: ...


class WindowAttributes:
    """Attributes of functions with sliding windows.

    Attributes:
        geometry: Where the windows are.
    """

    geometry: _Geometry

    @property
    def stride(self) -> Shape:
        """Distance between neighboring windows."""
        return self.geometry.stride

    @property
    def pad(self) -> Shape:
        """Padding."""
        return self.geometry.pad


class PlanarAttributes(WindowAttributes):
    """Attributes of functions with windows in two dimensions, by which programs know them."""

    sy = component("stride", 0, "Vertical stride.")
    sx = component("stride", 1, "Horizontal stride.")
    ph = component("pad", 0, "Vertical padding.")
    pw = component("pad", 1, "Horizontal padding.")


class PlanarOutput:
    """Attributes of functions that compute an image whose size may be given.

    Attributes:
        outs: Spatial size of the output; None until it is known.
    """

    outs: Shape | None

    @property
    def outh(self) -> int | None:
        """Height of the output; None until it is known."""
        return None if self.outs is None else self.outs[0]

    @property
    def outw(self) -> int | None:
        """Width of the output; None until it is known."""
        return None if self.outs is None else self.outs[1]
