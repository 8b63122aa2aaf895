"""Sizes that links infer at their first call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chainer.core.autograd.variable import shape_of
from chainer.core.typing import VariableLike
from chainer.core.utils.type_check import InvalidType

if TYPE_CHECKING:
    from chainer.links.link import Link


def infer_channels(link: Link, x: VariableLike, ndim: int) -> int:
    """Returns the number of channels of the first input of a link.

    Args:
        link (Link): The link, for the text of the error.
        x (Variable or array): Its input.
        ndim (int): Number of axes it must have. Sizes inferred from an invalid input would stay,
            and the link would refuse the valid inputs that follow.

    Raises:
        InvalidType: If ``x`` has another number of axes.
    """
    shape = shape_of(x)
    if len(shape) != ndim:
        raise _invalid(link, f"x.ndim == {ndim}", f"{len(shape)} != {ndim}")
    return shape[1]


def infer_last_axis(link: Link, x: VariableLike, min_ndim: int = 1) -> int:
    """Returns the length of the last axis of the first input of a link.

    Args:
        link (Link): The link, for the text of the error.
        x (Variable or array): Its input.
        min_ndim (int): Least number of axes.

    Raises:
        InvalidType: If ``x`` has fewer axes.
    """
    shape = shape_of(x)
    if len(shape) < min_ndim:
        raise _invalid(link, f"x.ndim >= {min_ndim}", f"{len(shape)} < {min_ndim}")
    return shape[-1]


def infer_features(link: Link, x: VariableLike, n_batch_axes: int = 1) -> int:
    """Returns the number of elements of each input vector of the first input of a link.

    Args:
        link (Link): The link, for the text of the error.
        x (Variable or array): Its input; it may be empty.
        n_batch_axes (int): Number of batch axes, which come before the axes of the input vectors.

    Raises:
        InvalidType: If ``x`` has no further axes.
    """
    # The batch may be empty; only the other axes matter.
    shape = shape_of(x)
    if len(shape) <= n_batch_axes:
        raise _invalid(link, f"x.ndim > {n_batch_axes}", f"{len(shape)} <= {n_batch_axes}")
    return math.prod(shape[n_batch_axes:])


def _invalid(link: Link, expect: str, actual: str) -> InvalidType:
    text = f"\n{type(link).__name__} cannot infer its sizes from this input\n"
    return InvalidType(expect, actual, f"{text}\nExpect: {expect}\nActual: {actual}")
