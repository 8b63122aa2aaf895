"""Functions of elements: NumPy decides about dtypes, the library computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api import dtypes
from chainer_array_api.array import Array
from chainer_array_api.functions import moves, operands
from chainer_array_api.functions.operands import Backend

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike

#: NumPy's names of functions that the standard has, under a name of its own where it differs.
STANDARD = {
    **{
        name: name
        for name in """
    abs ceil floor trunc negative positive sign signbit square sqrt reciprocal exp expm1 log
    log1p log2 log10 sin cos tan sinh cosh tanh isnan isinf isfinite add subtract multiply
    divide floor_divide remainder maximum minimum hypot copysign nextafter logaddexp equal
    not_equal less less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor conj acos
    acosh asin asinh atan atan2 atanh pow
    """.split()
    },
    **{"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh"},
    **{"arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "absolute": "abs", "fabs": "abs"},
    **{"rint": "round", "fix": "trunc", "conjugate": "conj", "power": "pow", "mod": "remainder"},
    **{"true_divide": "divide", "invert": "bitwise_invert", "bitwise_not": "bitwise_invert"},
    **{"left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift"},
    **{name: name for name in ("bitwise_left_shift", "bitwise_right_shift", "bitwise_invert")},
}

#: Of the standard's functions, those that take no booleans, and what serves these instead.
_BOOLEAN = {
    **{"add": "logical_or", "maximum": "logical_or"},
    **{"multiply": "logical_and", "minimum": "logical_and"},
}
_REFUSE_BOOLEANS = frozenset(("less", "less_equal", "greater", "greater_equal"))
_UFUNC_NAMES = {"fix": "trunc"}


def _fmod(nx: Any, x: ArrayLike, y: ArrayLike) -> Any:
    rest = nx.remainder(nx.abs(x), nx.abs(y))
    return nx.where(x < 0, -rest, rest)


def _truth(nx: Any, x: ArrayLike) -> Any:
    return nx.astype(x, nx.bool)


def _ignoring_nan(function: str) -> Callable[[Any, Any, Any], Any]:
    def chosen(nx: Any, x: ArrayLike, y: ArrayLike) -> Any:
        return nx.where(nx.isnan(x), y, nx.where(nx.isnan(y), x, getattr(nx, function)(x, y)))

    return chosen


#: Functions made of several of the standard's.
COMPOSED: dict[str, Callable[..., Any]] = {
    "fmod": _fmod,
    "fmax": _ignoring_nan("maximum"),
    "fmin": _ignoring_nan("minimum"),
    "exp2": lambda nx, x: nx.exp(x * numpy.log(2).item()),
    "logaddexp2": lambda nx, x, y: nx.log2(nx.exp2(x) + nx.exp2(y)),
    "cbrt": lambda nx, x: nx.sign(x) * nx.abs(x) ** (1 / 3),
    "deg2rad": lambda nx, x: x * (numpy.pi / 180),
    "radians": lambda nx, x: x * (numpy.pi / 180),
    "rad2deg": lambda nx, x: x * (180 / numpy.pi),
    "degrees": lambda nx, x: x * (180 / numpy.pi),
    "heaviside": lambda nx, x, y: nx.where(x == 0, y, nx.astype(x > 0, x.dtype)),
    "float_power": lambda nx, x, y: nx.pow(x, y),
    "logical_not": lambda nx, x: nx.logical_not(_truth(nx, x)),
    "logical_and": lambda nx, x, y: nx.logical_and(_truth(nx, x), _truth(nx, y)),
    "logical_or": lambda nx, x, y: nx.logical_or(_truth(nx, x), _truth(nx, y)),
    "logical_xor": lambda nx, x, y: nx.logical_xor(_truth(nx, x), _truth(nx, y)),
}
del COMPOSED["logaddexp2"]  # overflows: NumPy's own serves

NAMES = frozenset((*STANDARD, *COMPOSED))
# Functions that compute with a number of Python as the library's own operators do.
_TAKE_NUMBERS = frozenset(("add", "subtract", "multiply", "divide", "true_divide"))


class Elementwise:
    """A function of elements, as one of NumPy's ufuncs.

    Args:
        backend: The backend.
        name: NumPy's name of the function.
    """

    def __init__(self, backend: Backend, name: str) -> None:
        ufunc = getattr(numpy, _UFUNC_NAMES.get(name, name))
        self.__name__ = name
        self.nin: int = ufunc.nin
        self.nout: int = ufunc.nout
        self._ufunc = ufunc.__name__ if hasattr(numpy, ufunc.__name__) else name
        self._backend = backend
        self._class = backend.array_class
        standard = STANDARD.get(name)
        self._standard = standard
        self._function = None if standard is None else backend.elementwise(standard)
        self._takes_numbers = name in _TAKE_NUMBERS
        # Native dtypes of operands that go to the library as they are -> native dtype of the
        # result.
        self._direct: dict[Any, Any] = {}

    def __call__(
        self,
        *args: ArrayLike,
        out: ArrayLike = None,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        **_: Any,
    ) -> Array:
        if where is True and dtype is None:
            result = self._directly(args, out)
            if result is not None:
                return result
        if len(args) > self.nin:
            *args, out = args  # type: ignore[assignment]
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} arrays, got {len(args)}")
        b = self._backend
        native = self._compute(args, dtype)
        if where is True:
            return b.array_class(native) if out is None else self._put(native, out)
        if out is None:
            raise ValueError("where needs out, which has the values of the other elements")
        chosen = b.xp.where(where, b.array_class(native), out)
        return operands.deliver(b, chosen.native, out, self.__name__)

    def _directly(self, args: ArrayLike, out: ArrayLike) -> Array | None:
        """Returns the result where nothing has to be converted, which is most often."""
        cls = self._class
        natives = []
        kinds = []
        for arg in args:
            if arg.__class__ is cls:
                native = arg.native
                kinds.append(native.dtype)
            elif arg.__class__ is float and self._takes_numbers:
                native = arg
                kinds.append(float)
            else:
                return None
            natives.append(native)
        dtype = self._direct.get(tuple(kinds))
        if dtype is None:
            return None
        if out is None:
            result = self._function(*natives)  # type: ignore[misc]
            return cls(result if result.dtype == dtype else self._backend.nx.astype(result, dtype))
        if out.__class__ is not cls or not self._backend.can_write(out.native, dtype, natives):
            return None
        self._function(*natives, out=out.native)  # type: ignore[misc]
        return out

    def _put(self, native: Any, out: ArrayLike) -> Array:
        if isinstance(out, tuple):
            (out,) = out
        return operands.deliver(self._backend, native, out, self.__name__)

    def _compute(self, args: ArrayLike, dtype: DTypeLike) -> Any:
        b = self._backend
        cls = self._class
        values: list[Any] = [
            a
            if a.__class__ is cls or isinstance(a, (int, float, complex))
            else operands.array(b, a)
            for a in args
        ]
        kinds = [dtypes.kind_of(value) for value in values]
        loop = dtypes.loop(self._ufunc, *kinds)
        if dtype is not None:
            loop = (*(numpy.dtype(dtype),) * self.nin, *loop[self.nin :])
        natives = self._converted(values, kinds, loop)
        some = any(value.__class__ is cls for value in values)
        if some and all(k is float or k == w for k, w in zip(kinds, loop, strict=False)):
            self._remember(values, loop)
        if self._takes_numbers and not some:
            natives = [operands.number(b, v, loop[0], b.current_native_device) for v in values]
        return self._apply(natives, loop)

    def _converted(
        self, values: list[Any], kinds: Sequence[Any], loop: Sequence[numpy.dtype[Any]]
    ) -> list[Any]:
        """Returns the operands as the library takes them, in the dtypes of the loop."""
        b, device = self._backend, None
        natives: list[Any] = []
        for value, wanted, kind in zip(values, loop, kinds, strict=False):
            if value.__class__ is self._class:
                natives.append(
                    value.native if kind == wanted else operands.astype(b, value, wanted).native
                )
            # The library combines an array with a number faster than with an array of one element.
            elif self._takes_numbers and wanted.kind == "f" and len(values) == 2:
                natives.append(float(value))
            else:
                device = device or operands.device_of(b, values)
                natives.append(operands.number(b, value, wanted, device))
        return natives

    def _remember(self, values: list[Any], loop: tuple[numpy.dtype[Any], ...]) -> None:
        boolean = loop[0].kind == "b" and self._standard in {*_BOOLEAN, *_REFUSE_BOOLEANS}
        numbers = any(not isinstance(value, Array) for value in values)
        if self._function is None or boolean or (numbers and loop[0].kind != "f"):
            return
        key = tuple(v.native.dtype if isinstance(v, Array) else float for v in values)
        self._direct[key] = self._backend.native_dtype(loop[-1])

    def _apply(self, natives: list[Any], loop: tuple[numpy.dtype[Any], ...]) -> Any:
        nx = self._backend.nx
        if self._function is None:
            result = COMPOSED[self.__name__](nx, *natives)
        elif loop[0].kind == "b" and self._standard in _BOOLEAN:
            result = getattr(nx, _BOOLEAN[self._standard])(*natives)
        elif loop[0].kind == "b" and self._standard in _REFUSE_BOOLEANS:
            result = self._function(*[nx.astype(native, nx.uint8) for native in natives])
        else:
            result = self._function(*natives)
        wanted = self._backend.native_dtypes.get(loop[-1])
        return result if result.dtype == wanted else nx.astype(result, wanted)

    def at(self, array: Array, indices: ArrayLike, *values: ArrayLike) -> None:
        """Performs the operation in place, repeated indices included (additions only).

        Args:
            array: Array that is changed.
            indices: Index.
            values: The other operand.

        Raises:
            TypeError: If this is another function than ``add`` or ``subtract``.
        """
        if self.__name__ not in ("add", "subtract"):
            raise TypeError(f"{self.__name__}.at is not available; those of add and subtract are")
        (value,) = values
        if self.__name__ == "subtract":
            value = -operands.array(self._backend, value)
        self._backend.xp._add_at(array, indices, value)

    def reduce(self, array: ArrayLike, axis: Any = 0, **kwargs: Any) -> Array:
        """Reduces axes, as sum, product, maximum and minimum do.

        Args:
            array: Array.
            axis: Axis or axes; None for all.
            kwargs: Keyword arguments of the reduction.

        Raises:
            TypeError: For other functions.
        """
        names = {
            **{"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"},
            **{"logical_and": "all", "logical_or": "any"},
        }
        if self.__name__ not in names:
            raise TypeError(f"{self.__name__}.reduce is not available")
        return getattr(self._backend.xp, names[self.__name__])(array, axis=axis, **kwargs)

    def accumulate(self, array: ArrayLike, axis: int = 0, **kwargs: Any) -> Array:
        """Accumulates along one axis (additions and products).

        Args:
            array: Array.
            axis: Axis.
            kwargs: Keyword arguments of ``cumsum``.

        Raises:
            TypeError: For other functions.
        """
        names = {"add": "cumsum", "multiply": "cumprod"}
        if self.__name__ not in names:
            raise TypeError(f"{self.__name__}.accumulate is not available")
        return getattr(self._backend.xp, names[self.__name__])(array, axis, **kwargs)

    def outer(self, first: ArrayLike, second: ArrayLike, **kwargs: Any) -> Array:
        """Applies the function to all pairs.

        Args:
            first: Array.
            second: Array; its axes come last.
            kwargs: Keyword arguments of the function.
        """
        first, second = (operands.array(self._backend, value) for value in (first, second))
        return self(first.reshape(first.shape + (1,) * second.ndim), second, **kwargs)

    def __repr__(self) -> str:
        return f"<elementwise {self.__name__!r} of {self._backend.name}>"


# -- functions of elements that are not ufuncs of NumPy -------------------------------------------


def clip(
    b: Backend,
    a: ArrayLike,
    a_min: ArrayLike = None,
    a_max: ArrayLike = None,
    out: ArrayLike = None,
    **kw: Any,
):
    """As :func:`numpy.clip`."""
    low, high = kw.pop("min", a_min), kw.pop("max", a_max)
    result = operands.array(b, a)
    if low is not None:
        result = b.xp.maximum(result, low)
    if high is not None:
        result = b.xp.minimum(result, high)
    if out is not None:
        return operands.deliver(b, result.native, out, "clip")
    return result.copy() if result is a else result


def where(b: Backend, condition: ArrayLike, x: ArrayLike = None, y: ArrayLike = None) -> Any:
    """As :func:`numpy.where`."""
    if x is None or y is None:
        if x is not y:
            raise ValueError("either both or neither of x and y should be given")
        return b.xp.nonzero(condition)
    chosen = operands.cast(b, operands.array(b, condition), numpy.dtype(bool))
    x, y = operands.together(b, (x, y))
    return b.array_class(b.moved(moves.choose, (chosen, x, y), ()))


def real(b: Backend, val: ArrayLike) -> Array:
    """As :func:`numpy.real`."""
    x = operands.array(b, val)
    return b.array_class(b.nx.real(x.native)) if x.dtype.kind == "c" else x


def imag(b: Backend, val: ArrayLike) -> Array:
    """As :func:`numpy.imag`."""
    x = operands.array(b, val)
    if x.dtype.kind == "c":
        return b.array_class(b.nx.imag(x.native))
    return b.xp.zeros_like(x)


def round(b: Backend, a: ArrayLike, decimals: int = 0, out: ArrayLike = None) -> Array:
    """As :func:`numpy.round`."""
    x = operands.array(b, a)
    if decimals:
        result = b.xp.rint(x * 10.0**decimals) / 10.0**decimals
    else:
        result = x if x.dtype.kind in "iub" else b.xp.rint(x)
    return result if out is None else operands.deliver(b, result.native, out, "round")


around = round


def nan_to_num(
    b: Backend,
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike = None,
    neginf: ArrayLike = None,
) -> Array:
    """As :func:`numpy.nan_to_num`."""
    xp = b.xp
    x = operands.array(b, x)
    limits = numpy.finfo(x.dtype)
    result = xp.where(xp.isnan(x), float(nan), x)
    high, low = (float(limits.max), float(limits.min))
    result = xp.where(x == numpy.inf, high if posinf is None else float(posinf), result)
    result = xp.where(x == -numpy.inf, low if neginf is None else float(neginf), result)
    if not copy:
        x[...] = result
        return x
    return result


def isclose(
    b: Backend,
    a: ArrayLike,
    b_: Any,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Array:
    """As :func:`numpy.isclose`."""
    xp = b.xp
    a, other = operands.array(b, a), operands.array(b, b_)
    near = xp.abs(a - other) <= atol + rtol * xp.abs(other)
    close = xp.where(xp.isfinite(other), near, a == other)
    return close | (xp.isnan(a) & xp.isnan(other)) if equal_nan else close


def allclose(b: Backend, *args: ArrayLike, **kwargs: Any) -> bool:
    """As :func:`numpy.allclose`."""
    return bool(isclose(b, *args, **kwargs).all())


def array_equal(b: Backend, a1: ArrayLike, a2: ArrayLike) -> bool:
    """As :func:`numpy.array_equal`."""
    a1, a2 = operands.array(b, a1), operands.array(b, a2)
    return a1.shape == a2.shape and bool((a1 == a2).all())
