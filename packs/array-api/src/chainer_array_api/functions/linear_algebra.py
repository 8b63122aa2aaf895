"""Products, and what ``xp.linalg`` has."""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy

from chainer_array_api.array import Array
from chainer_array_api.functions import operands
from chainer_array_api.functions.creation import placed
from chainer_array_api.functions.operands import Backend, axes_of, deliver

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike


def matmul(b: Backend, x1: ArrayLike, x2: ArrayLike, out: ArrayLike = None, **_: Any) -> Array:
    """As :func:`numpy.matmul`."""
    first, second = operands.together(b, (x1, x2))
    if not (first.ndim and second.ndim):
        raise ValueError("matmul takes no arrays without axes")
    inner = second.shape[0 if second.ndim == 1 else -2]
    if first.shape[-1] != inner:
        raise ValueError(
            f"matmul: shapes {tuple(first.shape)} and {tuple(second.shape)} do not fit: "
            f"{first.shape[-1]} is not {inner}"
        )
    return deliver(b, b.nx.matmul(first, second), out, "matmul")


def dot(b: Backend, a: ArrayLike, b_: Any, out: ArrayLike = None) -> Array:
    """As :func:`numpy.dot`."""
    x, y = operands.array(b, a), operands.array(b, b_)
    if not (x.ndim and y.ndim):
        result = x * y
    elif y.ndim > 2 or (y.ndim == 2 and x.ndim > 2):
        result = tensordot(b, x, y, ((-1,), (-2,)))
    else:
        return matmul(b, x, y, out)
    return deliver(b, result.native, out, "dot")


def vdot(b: Backend, a: ArrayLike, b_: Any) -> Array:
    """As :func:`numpy.vdot`."""
    x, y = operands.array(b, a).reshape(-1), operands.array(b, b_).reshape(-1)
    return matmul(b, x.conj() if x.dtype.kind == "c" else x, y)


def inner(b: Backend, a: ArrayLike, b_: Any) -> Array:
    """As :func:`numpy.inner`."""
    x, y = operands.array(b, a), operands.array(b, b_)
    return tensordot(b, x, y, ((-1,), (-1,))) if x.ndim and y.ndim else x * y


def outer(b: Backend, a: ArrayLike, b_: Any, out: ArrayLike = None) -> Array:
    """As :func:`numpy.outer`."""
    x, y = operands.array(b, a), operands.array(b, b_)
    return b.xp.multiply(x.reshape(-1, 1), y.reshape(1, -1), out=out)


def tensordot(b: Backend, a: ArrayLike, b_: Any, axes: Any = 2) -> Array:
    """As :func:`numpy.tensordot`."""
    x, y = operands.array(b, a), operands.array(b, b_)
    if isinstance(axes, int):
        first, second = tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))
    else:
        first, second = (axes_of(part, z.ndim) for part, z in zip(axes, (x, y), strict=True))
    if [x.shape[i] for i in first] != [y.shape[i] for i in second]:
        raise ValueError(f"tensordot: shapes {x.shape} and {y.shape} do not fit along {axes}")
    rows = [i for i in range(x.ndim) if i not in first]
    columns = [i for i in range(y.ndim) if i not in second]
    shape = [x.shape[i] for i in rows] + [y.shape[i] for i in columns]
    common = math.prod(x.shape[i] for i in first)
    left = x.transpose([*rows, *first]).reshape(math.prod(x.shape[i] for i in rows), common)
    right = y.transpose([*second, *columns])
    right = right.reshape(common, math.prod(y.shape[i] for i in columns))
    return matmul(b, left, right).reshape(tuple(shape))


# -- einsum ---------------------------------------------------------------------------------------


def einsum(b: Backend, subscripts: str, *operands_: Any, out: ArrayLike = None, **_: Any) -> Array:
    """As :func:`numpy.einsum` with subscripts; operands are contracted from left to right."""
    terms, result = _subscripts(subscripts, [operands.array(b, x) for x in operands_])
    labels, total = terms[0]
    for i, (more, x) in enumerate(terms[1:], 1):
        later = set(result).union(*[names for names, _ in terms[i + 1 :]])
        labels, total = _contract(b, labels, total, more, x, later)
    total = _sum_out(total, labels, [name for name in labels if name in result])
    kept = [name for name in labels if name in result]
    total = total.transpose([kept.index(name) for name in result]) if kept else total
    return deliver(b, total.native, out, "einsum") if out is not None else total


def _subscripts(text: str, arrays: list[Array]) -> tuple[list[tuple[str, Array]], str]:
    """Returns a letter for each axis of each operand, and the letters of the result."""
    left, arrow, right = text.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(arrays):
        raise ValueError(f"einsum: {len(arrays)} operands for subscripts {text!r}")
    free = [name for name in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if name not in text]
    dots = max(
        [x.ndim - len(p.replace("...", "")) for p, x in zip(parts, arrays) if "..." in p], default=0
    )
    terms = []
    for part, x in zip(parts, arrays, strict=True):
        count = x.ndim - len(part.replace("...", ""))
        part = part.replace("...", "".join(free[dots - count : dots]))
        if len(part) != x.ndim:
            raise ValueError(f"einsum: subscripts {part!r} for an array with {x.ndim} axes")
        if len(set(part)) != len(part):
            part, x = _diagonals(part, x)
        terms.append((part, x))
    if arrow:
        return terms, right.replace("...", "".join(free[:dots]))
    every = "".join(part for part, _ in terms)
    once = sorted(name for name in set(every) if every.count(name) == 1 and name not in free[:dots])
    return terms, "".join(free[:dots]) + "".join(once)


def _diagonals(labels: str, x: Array) -> tuple[str, Array]:
    """Replaces two axes of one letter by the diagonal."""
    while len(set(labels)) != len(labels):
        name = next(name for name in labels if labels.count(name) > 1)
        i, j = labels.index(name), labels.rindex(name)
        x = x.diagonal(axis1=i, axis2=j)
        labels = labels[:i] + labels[i + 1 : j] + labels[j + 1 :] + name
    return labels, x


def _sum_out(x: Array, labels: str, kept: list[str]) -> Array:
    axes = tuple(i for i, name in enumerate(labels) if name not in kept)
    return x.sum(axis=axes, dtype=x.dtype) if axes else x


def _roles(
    first: str, second: str, later: set[str]
) -> tuple[list[str], list[str], list[str], list[str]]:
    """Returns the axes of a matrix product: of the batch, summed, of the first, of the second."""
    batch = [name for name in first if name in second and name in later]
    common = [name for name in first if name in second and name not in later]
    rows = [name for name in first if name not in second]
    columns = [name for name in second if name not in first]
    return batch, common, rows, columns


def _lengths(first: str, x: Array, second: str, y: Array) -> dict[str, int]:
    """Returns the lengths of all axes by name. An axis of length one is repeated."""
    length = {**dict(zip(second, y.shape)), **dict(zip(first, x.shape))}
    for name in set(first) & set(second):
        i, j = x.shape[first.index(name)], y.shape[second.index(name)]
        if i != j and 1 in (i, j):
            length[name] = max(i, j)
    return length


def _contract(
    b: Backend, first: str, x: Array, second: str, y: Array, later: set[str]
) -> tuple[str, Array]:
    """Multiplies two arrays and sums the axes that are no longer needed, as a matrix product."""
    alone = [name for name in first if name in second or name in later]
    x, first = _sum_out(x, first, alone), "".join(alone)
    alone = [name for name in second if name in first or name in later]
    y, second = _sum_out(y, second, alone), "".join(alone)
    batch, common, rows, columns = _roles(first, second, later)
    length = _lengths(first, x, second, y)
    x = b.xp.broadcast_to(x, [length[name] for name in first])
    y = b.xp.broadcast_to(y, [length[name] for name in second])

    def sizes(names: list[str]) -> int:
        return math.prod(length[name] for name in names)

    left = x.transpose([first.index(name) for name in (*batch, *rows, *common)])
    right = y.transpose([second.index(name) for name in (*batch, *common, *columns)])
    labels = "".join((*batch, *rows, *columns))
    shape = tuple(length[name] for name in labels)
    if not common and not (rows and columns):
        # Nothing is summed: an elementwise product is faster than a matrix product.
        left = left.reshape(left.shape + (1,) * len(columns))
        right = right.reshape(right.shape + (1,) * len(rows))
        return labels, left * right
    left = left.reshape(sizes(batch), sizes(rows), sizes(common))
    right = right.reshape(sizes(batch), sizes(common), sizes(columns))
    return labels, matmul(b, left, right).reshape(shape)


# -- linalg ---------------------------------------------------------------------------------------

#: Functions of the extension ``linalg`` of the standard with NumPy's names and meaning.
STANDARD_LINALG = ("cholesky", "det", "eigh", "eigvalsh", "inv", "pinv", "qr", "slogdet", "svd")
STANDARD_LINALG += ("svdvals", "matrix_power", "cross")
_FLOATING = numpy.dtype(numpy.float64)

#: Functions that the standard has in its main namespace and in ``linalg``.
_ALSO_IN_LINALG = frozenset(("matrix_transpose", "tensordot", "vecdot"))

#: Named tuples that functions return, as in NumPy.
_RESULTS = {
    "eigh": namedtuple("EighResult", "eigenvalues eigenvectors"),
    "qr": namedtuple("QRResult", "Q R"),
    "slogdet": namedtuple("SlogdetResult", "sign logabsdet"),
    "svd": namedtuple("SVDResult", "U S Vh"),
}


def linalg_function(b: Backend, name: str) -> Any:
    """Returns a function of the extension ``linalg`` for our arrays, or None if it is missing.

    Args:
        b: The backend.
        name: NumPy's name.
    """
    if name in _ALSO_IN_LINALG:
        return getattr(b.xp, name)
    native = getattr(getattr(b.nx, "linalg", None), name, None)
    if native is None or name not in (*STANDARD_LINALG, "solve"):
        return None

    def function(*args: ArrayLike, **kwargs: Any) -> Any:
        arrays = [operands.array(b, a) if not isinstance(a, int) else a for a in args]
        natives = [
            a
            if isinstance(a, int)
            else operands.cast(
                b, a, a.dtype if a.dtype.kind in "fc" or name == "cross" else _FLOATING
            )
            for a in arrays
        ]
        for x in arrays:
            square = name not in ("qr", "svd", "svdvals", "pinv", "cross", "solve")
            if square and isinstance(x, Array) and (x.ndim < 2 or x.shape[-1] != x.shape[-2]):
                raise numpy.linalg.LinAlgError(
                    f"{name}: matrices must be square, got a stack of shape {x.shape}"
                )
        try:
            result = native(*natives, **kwargs)
        except numpy.linalg.LinAlgError:
            raise
        except RuntimeError as error:  # of torch: LinAlgError is one of its own
            raise numpy.linalg.LinAlgError(str(error)) from error
        if isinstance(result, tuple):
            return _RESULTS[name](*map(b.array_class, result))
        return b.array_class(result)

    function.__name__ = name
    return function


# -- fft ------------------------------------------------------------------------------------------

_FFT_OF_COMPLEX = ("fft", "ifft", "fftn", "ifftn", "irfft", "irfftn", "hfft")
_FFT_OF_REAL = ("rfft", "rfftn", "ihfft")
_SHIFTS = ("fftshift", "ifftshift")
_FREQUENCIES = ("fftfreq", "rfftfreq")


def fft_function(b: Backend, name: str) -> Any:
    """Returns a function of the extension ``fft`` for our arrays, or None if it is missing.

    Args:
        b: The backend.
        name: NumPy's name.
    """
    if name in _FREQUENCIES:
        frequencies = getattr(numpy.fft, name)

        def make(b: Backend, n: int, d: float = 1.0, *, dtype: DTypeLike = float) -> Array:
            return b.make(frequencies(n, d).astype(dtype), b.current_native_device)

        return functools.partial(placed(make), b)
    native = getattr(getattr(b.nx, "fft", None), name, None)
    if native is None or name not in (*_FFT_OF_COMPLEX, *_FFT_OF_REAL, *_SHIFTS):
        return None

    def function(a: ArrayLike, *args: ArrayLike, **kwargs: Any) -> Array:
        x = operands.array(b, a)
        if name not in _SHIFTS:
            x = operands.astype(b, x, _transformed(x.dtype, name in _FFT_OF_COMPLEX), copy=False)
        # The standard has the arguments after the array by keyword only.
        names = ("axes",) if name in _SHIFTS else ("s", "axes", "norm")
        if not name.endswith("n") and name not in _SHIFTS:
            names = ("n", "axis", "norm")
        given = {**dict(zip(names, args)), **kwargs}
        given = {k: v for k, v in given.items() if v is not None}
        if not x.size and name not in _SHIFTS:  # libraries differ; NumPy knows what is left
            left = getattr(numpy.fft, name)(numpy.zeros(x.shape, x.dtype), **given)
            return b.make(numpy.ascontiguousarray(left), b.native_device_of(x))
        return b.array_class(native(x.native, **given))

    function.__name__ = name
    return function


def _transformed(dtype: numpy.dtype[Any], to_complex: bool) -> numpy.dtype[Any]:
    single = dtype in (numpy.float16, numpy.float32, numpy.complex64)
    if to_complex:
        return numpy.dtype(numpy.complex64 if single else numpy.complex128)
    return numpy.dtype(numpy.float32 if single else numpy.float64)
