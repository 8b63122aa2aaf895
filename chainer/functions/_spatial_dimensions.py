"""Checks of the spatial dimensions of images: their number, and the size of an output."""

from __future__ import annotations

from chainer.core.typing import Shape, VariableLike

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
    actual = len(x.shape[2:])
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
        ValueError: If a size is not positive.
    """
    if min(out_size, default=1) > 0:
        return
    if not names:
        raise ValueError(f"Output sizes should be positive. Actual: {out_size}")
    for name, size in zip(names, out_size, strict=True):
        if size <= 0:
            raise ValueError(f"{name} in the output should be positive. Actual: {size}")
