"""Functions of a fixed number of spatial dimensions over those of any number."""

from __future__ import annotations

from chainer.core.typing import VariableLike


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
