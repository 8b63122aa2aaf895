"""Variables that are given to NumPy: an array of variables, or an error with a remedy."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array, DTypeLike


class NotAMethod:
    """An attribute that raises an AttributeError, which says what to use instead.

    When ``numpy.exp`` gets a variable, NumPy looks for a method ``exp`` of the elements. NumPy
    raises its own error, and this one becomes its cause.

    Args:
        name: Name of the NumPy function and of the attribute.
        function: Name of the equivalent in :mod:`chainer.functions`; None if there is none.
    """

    def __init__(self, name: str, function: str | None) -> None:
        self._name = name
        self._function = function

    def __get__(self, variable: object, owner: type) -> Any:
        remedy = f"numpy.{self._name}(x.array) takes the array alone, without a gradient"
        if self._function is not None:
            remedy = f"use chainer.functions.{self._function}(x); " + remedy
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}. NumPy functions do not "
            f"take Variables: {remedy}"
        )


#: Functions of NumPy that look for a method of the same name -> function of Chainer.
NUMPY_FUNCTIONS: dict[str, str | None] = {
    "arccos": "arccos",
    "arcsin": "arcsin",
    "arctan": "arctan",
    "cbrt": None,
    "conjugate": None,
    "cos": "cos",
    "cosh": "cosh",
    "exp": "exp",
    "exp2": None,
    "expm1": "expm1",
    "fabs": "absolute",
    "log": "log",
    "log10": "log10",
    "log1p": "log1p",
    "log2": "log2",
    "rint": None,
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
}


def as_numpy_array(variable: Variable, dtype: DTypeLike, copy: bool | None) -> Array:
    """Implements ``Variable.__array__``.

    As in all releases, the result is an array of zero-dimensional Variables, because programs may
    rely on it. But most callers want the numbers. So a warning says how to get them, unless the
    caller asks for a dtype.

    Args:
        variable: The variable.
        dtype: The dtype that NumPy asks for; None if it asks for none.
        copy: Whether NumPy asks for a copy.
    """
    if dtype is not None and numpy.dtype(dtype) != object:
        host = variable.numpy()
        return numpy.array(host, dtype) if copy else numpy.asarray(host, dtype)
    array = variable._initialized()
    if dtype is None:
        warnings.warn(
            "NumPy makes an array of Variables (dtype object) here; use the 'array' attribute "
            "for the numbers, chainer.functions.stack for a list of Variables, or say "
            "dtype=object",
            RuntimeWarning,
            stacklevel=3,
        )
    objects = numpy.empty(array.shape, object)
    for index in numpy.ndindex(*array.shape):
        objects[index] = variable if not index else variable[index]
    return objects


def single_element(variable: Variable, target: str) -> Any:
    """Returns the only element of a variable.

    Args:
        variable: The variable.
        target: The type it is converted to, for the message.

    Raises:
        TypeError: If there is another number of elements.
    """
    array = variable._initialized()
    if array.size != 1:
        raise TypeError(
            f"only a Variable of one element can be converted to {target}, got one of shape "
            f"{array.shape}; use its 'array' attribute"
        )
    return array.item()
