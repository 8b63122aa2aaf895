"""Conversions of variables to numbers, texts and NumPy arrays, and errors for NumPy functions."""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable_in_graph import VariableInGraph
from chainer.core.autograd.variable_node import VariableNode

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array, DTypeLike


class _NotAMethod:
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
_NUMPY_FUNCTIONS: dict[str, str | None] = {
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


class VariableConversions(VariableInGraph):
    """The part of :class:`~chainer.Variable` about numbers, texts and NumPy arrays."""

    __slots__ = ()

    def numpy(self) -> Array:
        """Returns the elements as a NumPy array.

        Returns:
            numpy.ndarray: The array itself if it is in host memory, so that a change of one is seen
            in the other; otherwise a copy.

        Raises:
            AttributeError: If the variable has no array yet.

        Example:
            >>> chainer.Variable(np.array([1, 2], np.float32)).numpy()
            array([1., 2.], dtype=float32)
        """
        array = self._initialized()
        return backend_of(array).to_host(array)

    def detach(self) -> Variable:
        """Returns a new variable that shares the array and is cut off from the graph.

        No gradient flows through it, and ``requires_grad`` of it is False.

        Returns:
            Variable: The new variable.

        Example:
            >>> x = chainer.Variable(np.array([1, 2], np.float32))
            >>> y = x * 3
            >>> y.detach().creator is None
            True
        """
        return VariableNode.variable_class(self._initialized(), requires_grad=False)

    if TYPE_CHECKING:  # Variable defines it

        def _initialized(self) -> Array: ...

    def _single(self, target: str) -> Any:
        """Returns the only element; TypeError if there is another number of elements."""
        array = self._initialized()
        if array.size != 1:
            raise TypeError(
                f"only a Variable of one element can be converted to {target}, got one of shape "
                f"{array.shape}; use its 'array' attribute"
            )
        return array.item()

    def __float__(self) -> float:
        """Returns the only element as a float."""
        return float(self._single("float"))

    def __int__(self) -> int:
        """Returns the only element as an int; a fraction is cut off."""
        return int(self._single("int"))

    def __complex__(self) -> complex:
        """Returns the only element as a complex number."""
        return complex(self._single("complex"))

    def __format__(self, specification: str) -> str:
        """Formats the only element: ``f"{loss:.3f}"``. Without a specification it is ``str``."""
        if not specification:
            return str(self)
        return format(self._single("a number of a format"), specification)

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        # As in all releases, the result is an array of zero-dimensional Variables, because programs
        # may rely on it. But most callers want the numbers. So a warning says how to get them,
        # unless the caller asks for dtype=object.
        if dtype is not None and numpy.dtype(dtype) != object:
            host = self.numpy()
            return numpy.array(host, dtype) if copy else numpy.asarray(host, dtype)
        array = self._initialized()
        if dtype is None:
            warnings.warn(
                "NumPy makes an array of Variables (dtype object) here; use the 'array' attribute "
                "for the numbers, chainer.functions.stack for a list of Variables, or say "
                "dtype=object",
                RuntimeWarning,
                stacklevel=2,
            )
        objects = numpy.empty(array.shape, object)
        for index in numpy.ndindex(*array.shape):
            objects[index] = self if not index else self[index]
        return objects


for _name, _function in _NUMPY_FUNCTIONS.items():
    setattr(VariableConversions, _name, _NotAMethod(_name, _function))
