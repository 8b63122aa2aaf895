"""The operators of mdarray.

oneDNN computes ``+ - * /`` of float32 arrays of one shape and with Python numbers, in the layout
of the operands. Everything else is NumPy's, on ordinary arrays, with NumPy's result.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py import _matmul
from ideep4py._core import constants as C
from ideep4py._kernels.binary import binary, binary_inplace, broadcast, broadcast_inplace, scalar
from ideep4py._kernels.elementwise import forward, forward_inplace
from ideep4py._numpy_protocol import plain

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

_LINEAR = C.ELTWISE["linear"]
_float32 = np.float32
_names = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}


def _number(value: AnyArray) -> bool:
    """A Python number, or one that NumPy promotes with float32 to float32."""
    # No isinstance(): numpy.float64 is a subclass of float, and NumPy promotes float32 with it to
    # float64; bool is a subclass of int.
    kind = type(value)
    return kind is float or kind is int or kind is _float32


def _linear(name: str, value: float) -> tuple[float, float] | None:
    """``x op value`` as ``alpha * x + beta``, where that is exact."""
    if name == "add":
        return 1.0, value
    if name == "sub":
        return 1.0, -value
    if name == "mul":
        return value, 0.0
    return None


def install(cls: type, wrap: Callable[..., Any], readable_data: Callable[..., Any]) -> None:
    """Adds the operators to the class. ``wrap`` makes an array of data; ``readable_data`` takes
    one's data.
    """

    def operand(x: AnyArray, other: AnyArray) -> Any:
        """Data of ``other`` when oneDNN can combine it with ``x``, else None."""
        layout = x._data[0]
        if layout.data_type != C.F32 or not layout.size:
            return None
        if isinstance(other, cls):
            data = other._data
        elif isinstance(other, np.ndarray) and other.dtype == _float32:
            data = readable_data(other, "operand")
        else:
            return None
        found = data[0]
        return data if found.shape == layout.shape and found.data_type == C.F32 else None

    def scalable(x: AnyArray, other: AnyArray, divide: bool = False) -> bool:
        layout = x._data[0]
        if layout.data_type != C.F32 or not layout.size or not _number(other):
            return False
        # The padding of blocks must stay 0: no division by 0 or NaN.
        return not divide or (other != 0 and other == other)

    def make(name: str) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
        short = _names[name]
        ufunc = getattr(operator, name)
        inplace = getattr(operator, "i" + name)

        def direct(self: Any, other: AnyArray) -> Any:
            data = operand(self, other)
            if data is not None:
                return wrap(*binary(short, self._data, data))
            if scalable(self, other, short == "div"):
                line = _linear(short, float(other))
                if line is not None:
                    return wrap(*forward(self._data, _LINEAR, *line))
                return wrap(*broadcast(short, self._data, scalar(float(other), self.ndim)))
            return _numpy(ufunc, self, other)

        def reflected(self: Any, other: AnyArray) -> Any:
            # A number divided by the zeros in the padding of blocks would not be 0.
            if scalable(self, other) and short != "div":
                value = float(other)
                line = (-1.0, value) if short == "sub" else _linear(short, value)
                assert line is not None
                return wrap(*forward(self._data, _LINEAR, *line))
            return _numpy_reflected(ufunc, self, other)

        def in_place(self: Any, other: AnyArray) -> Any:
            data = operand(self, other)
            if data is not None:
                binary_inplace(short, self._data, data)
            elif scalable(self, other, short == "div"):
                line = _linear(short, float(other))
                if line is not None:
                    forward_inplace(self._data, _LINEAR, *line)
                else:
                    broadcast_inplace(short, self._data, scalar(float(other), self.ndim))
            else:
                # NumPy writes to the memory of the array itself, which _view() makes dense first.
                inplace(self._view(), plain(other))
            return self

        return direct, reflected, in_place

    for name in _names:
        direct, reflected, in_place = make(name)
        _set(cls, f"__{name}__", direct)
        _set(cls, f"__r{name}__", reflected)
        _set(cls, f"__i{name}__", in_place)

    def negative(self: Any) -> Any:
        if scalable(self, 1.0):
            return wrap(*forward(self._data, _LINEAR, -1.0, 0.0))
        return _numpy_unary(operator.neg, self)

    _set(cls, "__neg__", negative)
    _install_numpy_operators(cls)


def _set(cls: type, name: str, function: Callable[..., Any]) -> None:
    setattr(cls, name, function)


def _numpy(function: Callable[..., Any], x: AnyArray, other: AnyArray) -> Any:
    return function(plain(x), plain(other))


def _numpy_reflected(function: Callable[..., Any], x: AnyArray, other: AnyArray) -> Any:
    return function(plain(other), plain(x))


def _numpy_unary(function: Callable[..., Any], x: AnyArray) -> Any:
    return function(plain(x))


def _install_numpy_operators(cls: type) -> None:
    def direct(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: _numpy(function, self, other)

    def reflected(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: _numpy_reflected(function, self, other)

    def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
        def apply(self: Any, other: AnyArray) -> Any:
            function(self._view(), plain(other))
            return self

        return apply

    for name in ("floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"):
        function = getattr(operator, name)
        # The module operator calls the functions and_ and or_, since the names without underscore
        # are keywords.
        method = name.rstrip("_")
        _set(cls, f"__{method}__", direct(function))
        _set(cls, f"__r{method}__", reflected(function))
        _set(cls, f"__i{method}__", in_place(getattr(operator, "i" + method)))
    _set(cls, "__matmul__", _matmul.matmul)
    _set(cls, "__rmatmul__", lambda self, other: _matmul.matmul(other, self))
    _set(cls, "__divmod__", direct(divmod))
    _set(cls, "__rdivmod__", reflected(divmod))
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        _set(cls, f"__{name}__", direct(getattr(operator, name)))
    for name in ("pos", "abs", "invert"):
        function = getattr(operator, name)
        # The default value binds this function: a closure would see the last one of the loop.
        _set(cls, f"__{name}__", lambda self, f=function: _numpy_unary(f, self))
