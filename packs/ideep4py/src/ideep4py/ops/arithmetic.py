"""Sums, products and copies of whole arrays."""

from __future__ import annotations

from ideep4py._core import constants as C
from ideep4py._core.reorder import copy_into
from ideep4py._kernels import accumulate
from ideep4py._kernels import binary as kernel
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, same_shape

BINARY = ("add", "sub", "mul", "div", "max", "min")
"""Names for :func:`binary`."""


def binary(x: Array, y: Array, name: str) -> mdarray:
    """An elementwise operation of :data:`BINARY` on two arrays of one shape.

    The result has the layout of ``x`` and ``y``; where these differ, the layout of the one in
    blocks.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    if name not in C.BINARY or name not in BINARY:
        raise ValueError(f"name must be one of {', '.join(BINARY)}, got {name!r}")
    a, b = data_of(x, "x"), data_of(y, "y")
    same_shape(b, "y", a[0].shape, "x")
    return wrap(*kernel.binary(name, a, b))


def add(*xs: Array) -> mdarray:
    """Sum of one or more arrays of one shape."""
    if not xs:
        raise ValueError("xs must hold at least one array")
    data = [data_of(x, f"xs[{i}]") for i, x in enumerate(xs)]
    for i, item in enumerate(data):
        same_shape(item, f"xs[{i}]", data[0][0].shape, "xs[0]")
    return wrap(*accumulate.sum_arrays(data))


def mul(x: Array, y: Array) -> mdarray:
    """Elementwise product of two arrays of one shape."""
    return binary(x, y, "mul")


def copy_to(target: mdarray, source: Array) -> None:
    """``target[...] = source``; the target keeps its layout.

    Raises:
        TypeError: ``target`` is not an mdarray, or ``source`` is not an array.
        ValueError: the shapes differ.
    """
    if not isinstance(target, mdarray):
        raise TypeError(f"target must be an mdarray, got {type(target).__name__}")
    data = data_of(source, "source")
    same_shape(data, "source", target.shape, "target")
    copy_into(data, target._data)
