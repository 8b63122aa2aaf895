"""Casts of inputs that are wider than the parameters of a link (``chainer.config.cast_inputs``)."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import find_backend
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.variable import Variable
from chainer.core.typing import DType
from chainer.functions.array.cast import cast

if TYPE_CHECKING:
    from chainer.links.link import Link

_PACKAGE = str(Path(__file__).resolve().parent.parent)

#: Lines that were warned of: a training calls each of them many times.
_seen: set[tuple[str, int]] = set()


def cast_wider_inputs(
    link: Link, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the arguments of a call with wide inputs cast to the dtype of the parameters.

    NumPy 2 makes float64 of a product of a ``numpy.float64`` number and a float32 array, which was
    float32 before. Links then refuse the array, or their outputs become float64. The first cast in
    a line of a program gives a warning that names the line.

    Args:
        link: The link. A link without parameters, its own or of links inside, gets the arguments
            as they are.
        args: Positional arguments. Floating-point arrays and Variables are cast, also in lists and
            tuples.
        kwargs: Keyword arguments.
    """
    dtype = _parameter_dtype(link)
    if dtype is None:
        return args, kwargs
    return (
        tuple([_narrowed(link, value, dtype) for value in args]),
        {name: _narrowed(link, value, dtype) for name, value in kwargs.items()},
    )


def _parameter_dtype(link: Link) -> DType | None:
    """Returns the widest dtype of the floating-point parameters of a link and of links inside.

    An input of a chain may be for any of the links inside.
    """
    dtypes: list[DType] = [
        param.dtype
        for param in link.params()
        if param.array is not None and kind_of(param.dtype) == "f"
    ]
    return max(dtypes, key=lambda dtype: dtype.itemsize, default=None)


def _narrowed(link: Link, value: Any, dtype: DType) -> Any:
    if type(value) in (list, tuple):
        return type(value)([_narrowed(link, item, dtype) for item in value])
    array = value.array if isinstance(value, Variable) else value
    if array is None or find_backend(array.__class__) is None:
        return value
    given = numpy.dtype(array.dtype)
    if kind_of(given) != "f" or given.itemsize <= dtype.itemsize:
        return value
    _warn(link, given, dtype)
    return cast(value, dtype) if isinstance(value, Variable) else array.astype(dtype)


def _warn(link: Link, given: DType, dtype: DType) -> None:
    frame = _caller()
    place = ("unknown", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    if place in _seen:
        return
    _seen.add(place)
    warnings.warn_explicit(
        f"an input of {type(link).__name__} is {given} and its parameters are {dtype}: the input "
        "is cast, because chainer.config.cast_inputs is set (this line is named once)",
        UserWarning,
        *place,
    )


def _caller() -> FrameType | None:
    """Returns the frame of the program that called the outermost link."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame
