"""The strict array."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy

from chainer_strict_backend import crossing, current
from chainer_strict_backend.transfers import note

#: Methods of NumPy arrays that strict arrays have, too.
_METHODS = """
all any argmax argmin argpartition argsort astype clip compress conj copy cumprod cumsum diagonal
dot fill flatten max mean min nonzero partition prod put ravel repeat reshape round searchsorted
sort squeeze std sum swapaxes take trace transpose var view
"""

_BINARY = """
add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift lt le eq ne gt ge
"""
_COMPARISONS = {"lt", "le", "eq", "ne", "gt", "ge"}
_UNARY = ("neg", "pos", "abs", "invert")


class ndarray:
    """An array on a device that is not the host.

    Made by the functions of the namespace and by the backend, not directly.

    Args:
        host: The NumPy array with the contents.
        device_index: Index of the device.
        base: Strict array whose memory this one shares.
    """

    __slots__ = ("__weakref__", "_host", "base", "device_index")

    # NumPy's operators leave the decision to ours, which refuse.
    __array_ufunc__ = None
    __array_priority__ = 100

    def __init__(
        self, host: numpy.ndarray[Any, Any], device_index: int, base: ndarray | None = None
    ) -> None:
        self._host = host
        self.device_index = device_index
        self.base = base

    # -- refusals -------------------------------------------------------------------------------

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Use chainer.get_device('@numpy').send() to construct a NumPy array explicitly."
        )

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise TypeError(
            f"numpy.{func.__name__} does not take strict arrays; use xp.{func.__name__}"
        )

    # -- attributes -----------------------------------------------------------------------------

    shape = property(
        lambda self: self._host.shape, lambda self, shape: setattr(self._host, "shape", shape)
    )
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: self._host.flags)

    @property
    def T(self) -> ndarray:
        """The array with its axes reversed."""
        return self.transpose()  # type: ignore[attr-defined]

    @property
    def real(self) -> ndarray:
        """Real part."""
        return crossing.lift(self._host.real, self.device_index, (self,))

    @property
    def imag(self) -> ndarray:
        """Imaginary part."""
        return crossing.lift(self._host.imag, self.device_index, (self,))

    # -- elements -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> ndarray:
        devices = {self.device_index}
        lowered = crossing.lower(index, devices)
        crossing.common_device(devices)
        return crossing.lift(self._host[lowered], self.device_index, (self,))

    def __setitem__(self, index: Any, value: Any) -> None:
        devices = {self.device_index}
        lowered, value = crossing.lower((index, value), devices)
        crossing.check_place(crossing.common_device(devices), None)
        self._host[lowered] = value

    # -- values read by the host ------------------------------------------------------------------

    def item(self, *index: int) -> Any:
        """Returns an element as a Python number."""
        note("scalars")
        return self._host.item(*index)

    def tolist(self) -> Any:
        """Returns the elements in nested lists."""
        note("to_host")
        return self._host.tolist()

    def __bool__(self) -> bool:
        note("scalars")
        return bool(self._host)

    def __int__(self) -> int:
        note("scalars")
        return int(self._host)

    def __float__(self) -> float:
        note("scalars")
        return float(self._host)

    def __complex__(self) -> complex:
        note("scalars")
        return complex(self._host)

    def __index__(self) -> int:
        note("scalars")
        return operator.index(self._host)

    def __repr__(self) -> str:
        return f"strict{self._host!r}"

    def __str__(self) -> str:
        return str(self._host)

    def __format__(self, spec: str) -> str:
        return format(self._host, spec) if self.ndim else format(self.item(), spec)

    # -- copies ---------------------------------------------------------------------------------

    def __copy__(self) -> ndarray:
        return self.copy()  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict[int, Any]) -> ndarray:
        return ndarray(self._host.copy(), self.device_index)  # as CuPy: on the same device

    def __reduce__(self) -> Any:
        return (_restore, (self._host.copy(), self.device_index))

    __hash__ = None  # type: ignore[assignment]


def _restore(host: numpy.ndarray[Any, Any], device_index: int) -> ndarray:
    return ndarray(host, device_index if device_index < current.COUNT else 0)


def _method(name: str) -> Any:
    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        devices = {self.device_index}
        lowered = crossing.lower(args, devices)
        keywords = crossing.lower(kwargs, devices)
        crossing.common_device(devices)
        result = getattr(self._host, name)(*lowered, **keywords)
        crossing.check_place(self.device_index, result if kwargs.get("out") is None else None)
        if kwargs.get("out") is not None:
            return kwargs["out"]
        return crossing.lift(result, self.device_index, (self,))

    method.__name__ = name
    return method


def _is_operand(value: Any) -> bool:
    return isinstance(value, (ndarray, int, float, complex, numpy.generic))


def _binary(function: Any, reflected: bool, inplace: bool = False) -> Any:
    def method(self: ndarray, other: Any) -> Any:
        if isinstance(other, numpy.ndarray):
            raise crossing.refuse(other)
        if not _is_operand(other):
            return NotImplemented
        operands = (other, self) if reflected else (self, other)
        result = crossing.call(function, *operands)
        return self if inplace else result

    return method


def _unary(function: Any) -> Any:
    return lambda self: crossing.call(function, self)


for _name in _METHODS.split():
    setattr(ndarray, _name, _method(_name))
for _name in _BINARY.split():
    _plain = _name.rstrip("_")
    setattr(ndarray, f"__{_plain}__", _binary(getattr(operator, _name), False))
    if _name not in _COMPARISONS:
        setattr(ndarray, f"__r{_plain}__", _binary(getattr(operator, _name), True))
        setattr(ndarray, f"__i{_plain}__", _binary(getattr(operator, f"i{_plain}"), False, True))
for _name in _UNARY:
    setattr(ndarray, f"__{_name}__", _unary(getattr(operator, _name)))
