"""The array that Chainer works with: NumPy's methods on an array of any library."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy
from chainer.backends.recorder import VaryingNumber

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike, Index

    from chainer_array_api.backend import ArrayAPIBackend

#: Methods that are functions of the namespace whose first argument is the array.
_METHODS = """
all any argmax argmin argsort argpartition clip compress conj cumprod cumsum diagonal dot max mean
min nonzero prod put ravel repeat round searchsorted squeeze std sum swapaxes take trace var
"""
#: Versions of the array API standard.
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


class Array:
    """An array of a library that follows the array API standard, with the methods of NumPy's.

    Arrays of this class are what :attr:`chainer.Variable.array` is on such a backend. Dtypes are
    NumPy's, results without axes are arrays, operators promote as NumPy's do. Arrays of other
    kinds, NumPy's too, are not mixed in.

    Made by :func:`chainer_array_api.wrap`, by ``xp`` and by ``device.send``.

    Args:
        native: The library's array. Its memory is shared, nothing is copied.

    Attributes:
        native: The library's array.
    """

    __slots__ = ("__weakref__", "native")

    backend: ClassVar[ArrayAPIBackend]

    # NumPy's operators leave the decision to ours, which refuse.
    __array_ufunc__ = None
    __array_priority__ = 100

    def __init__(self, native: Any) -> None:
        self.native = native

    # -- refusals, and the explicit ways ----------------------------------------------------------

    def __array__(self, *args: ArrayLike, **kwargs: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Use "
            "chainer.get_device('@numpy').send(), or numpy.from_dlpack() to share memory."
        )

    def __array_function__(self, func: Any, types: Any, args: ArrayLike, kwargs: Any) -> Any:
        raise TypeError(f"numpy.{func.__name__} takes no {type(self).__name__}; use that of xp")

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.native.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.native.__dlpack_device__()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Returns ``xp``, where the functions of the array API standard are.

        Args:
            api_version: Version of the standard, such as ``'2024.12'``; all are served alike.
        """
        if api_version is not None and api_version not in _VERSIONS:
            raise ValueError(
                f"api_version must be one of {', '.join(_VERSIONS)}, got {api_version!r}"
            )
        return self.backend.xp

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """Returns the array on another device of the library.

        Args:
            device: Device of the library, as :attr:`device` has it.
            stream: Must be None.
        """
        if stream is not None:
            raise ValueError(f"stream must be None, got {stream!r}")
        if device == self.device:
            return self
        devices = list(self.backend.native_devices)
        if device not in devices:
            raise ValueError(f"device must be one of {devices}, got {device!r}")
        return self.backend.copy(self, self.backend.device(devices.index(device)))

    # -- attributes -------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes; may be assigned."""
        return tuple(self.native.shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.backend.rearrange(self, self.reshape(shape))

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Dtype of the elements, as NumPy's."""
        return self.backend.host_dtypes[self.native.dtype]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.native.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for length in self.native.shape:
            size *= length
        return size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis (host memory only)."""
        return self.backend.host_view(self.native).strides

    @property
    def flags(self) -> Flags:
        """The memory layout, as far as it is known."""
        return Flags(self)

    @property
    def base(self) -> Any:
        """The owner of the memory: the same object for all arrays that may share it."""
        return self.backend.owner_of(self)

    @property
    def device(self) -> Any:
        """The device, as the library has it."""
        return self.backend.native_device_of(self)

    @property
    def T(self) -> Array:
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Array:
        """The array with its last two axes exchanged."""
        return self.backend.xp.matrix_transpose(self)

    @property
    def real(self) -> Array:
        """Real part."""
        return self.backend.xp.real(self)

    @property
    def imag(self) -> Array:
        """Imaginary part."""
        return self.backend.xp.imag(self)

    # -- elements ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self.native.ndim:
            raise TypeError("len() of an array without axes")
        return self.native.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Index) -> Array:
        return self.backend.xp._get(self, index)

    def __setitem__(self, index: Index, value: ArrayLike) -> None:
        self.backend.xp._set(self, index, value)

    def item(self, *index: int) -> Any:
        """Returns an element as a number of Python.

        Args:
            index: Its index; not needed where there is one element only.
        """
        return self.backend.host_copy(self.native).item(*index)

    def tolist(self) -> Any:
        """Returns the elements in nested lists."""
        return self.backend.host_copy(self.native).tolist()

    def __bool__(self) -> bool:
        return bool(self.item() if self.size == 1 else self.backend.host_copy(self.native))

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        return operator.index(self.backend.host_copy(self.native))

    def __repr__(self) -> str:
        host = repr(self.backend.host_copy(self.native))
        return f"{self.backend.name}:{host}"

    def __str__(self) -> str:
        return str(self.backend.host_copy(self.native))

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.ndim == 0 else str(self), spec)

    # -- shapes, copies ---------------------------------------------------------------------------

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
        """Returns the elements in another shape, sharing memory where that is possible."""
        return self.backend.xp.reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes: Any) -> Array:
        """Returns a view with its axes in another order: reversed by default."""
        order: Any = axes
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            order = axes[0]
        return self.backend.xp.transpose(self, order or None)

    def flatten(self, order: str = "C") -> Array:
        """Returns a copy with one axis."""
        return self.reshape(-1, order=order).copy()

    def astype(
        self,
        dtype: DTypeLike,
        order: str = "K",
        casting: str = "unsafe",
        copy: bool = True,
        **_: Any,
    ) -> Array:
        """Returns the elements converted to another dtype.

        Args:
            dtype: The dtype.
            order: Layout; not observed.
            casting: Allowed conversions, as in NumPy.
            copy: Whether to copy where nothing is to be converted.
        """
        return self.backend.xp._astype(self, dtype, casting, copy)

    def view(self, dtype: DTypeLike = None) -> Array:
        """Returns the same memory as another array (of the same dtype only)."""
        if dtype is not None and numpy.dtype(dtype) != self.dtype:
            raise TypeError("the array API standard has no views of another dtype; use astype()")
        return self.backend.same(self)

    def copy(self, order: str = "C") -> Array:
        """Returns a copy.

        Args:
            order: Layout; not observed.
        """
        return self.backend.duplicate(self)

    def fill(self, value: ArrayLike) -> None:
        """Assigns a value to all elements.

        Args:
            value: Number.
        """
        self[...] = value

    def sort(self, axis: int = -1) -> None:
        """Sorts in place.

        Args:
            axis: Axis to sort along.
        """
        self[...] = self.backend.xp.sort(self, axis)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()

    def __reduce__(self) -> Any:
        backend = self.backend
        return (_restore, (backend.name, backend.to_host(self), backend.index_of(self.native)))

    __hash__ = None  # type: ignore[assignment]

    if TYPE_CHECKING:  # the methods and operators set below

        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: ArrayLike) -> Array: ...
        def __radd__(self, other: ArrayLike) -> Array: ...
        def __mod__(self, other: ArrayLike) -> Array: ...
        def __pow__(self, other: ArrayLike) -> Array: ...
        def __sub__(self, other: ArrayLike) -> Array: ...
        def __mul__(self, other: ArrayLike) -> Array: ...
        def __rmul__(self, other: ArrayLike) -> Array: ...
        def __truediv__(self, other: ArrayLike) -> Array: ...
        def __floordiv__(self, other: ArrayLike) -> Array: ...
        def __neg__(self) -> Array: ...
        def __lt__(self, other: ArrayLike) -> Array: ...
        def __gt__(self, other: ArrayLike) -> Array: ...


class Flags:
    """Memory layout of an array, with the names of NumPy's ``flags``.

    Args:
        array: The array.
    """

    __slots__ = ("_array",)

    owndata = False

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are in memory in the order of rows; False where it is not known."""
        return self._array.backend.is_contiguous(self._array.native)

    @property
    def writeable(self) -> bool:
        """Whether each element has a place of its own (false after ``broadcast_to``)."""
        return not self._array.backend.repeats_elements(self._array.native)

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements are in memory in the order of columns."""
        return self._array.T.flags.c_contiguous

    def __getitem__(self, name: str) -> bool:
        return getattr(self, name.lower())


def _restore(name: str, host: numpy.ndarray[Any, Any], index: int) -> Array:
    from chainer.backend import get_backend
    from chainer.device import Device

    backend: Any = get_backend(name)
    return backend.from_host(host, Device(backend, index if index < len(backend.devices()) else 0))


def _method(name: str) -> Any:
    def method(self: Array, *args: ArrayLike, **kwargs: Any) -> Any:
        return getattr(self.backend.xp, name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Returns ``xp.{name}(self, ...)``."
    return method


def _is_operand(value: ArrayLike) -> bool:
    return isinstance(value, (Array, int, float, complex, numpy.generic))


def _other(array: Array, other: ArrayLike) -> Any:
    """Returns the other operand of an operator; NotImplemented if it is of an unknown kind."""
    if isinstance(other, VaryingNumber):
        # While a step is recorded: the array that has the value of the number in each call.
        return other.array(array.dtype if array.dtype.kind == "f" else numpy.dtype(float))
    if not _is_operand(other):
        if isinstance(other, numpy.ndarray):
            raise mixed(array, other)
        return NotImplemented
    return other


def _binary(name: str, reflected: bool = False) -> Any:
    def method(self: Array, other: ArrayLike) -> Any:
        other = _other(self, other)
        if other is NotImplemented:
            return NotImplemented
        function = getattr(self.backend.xp, name)
        return function(other, self) if reflected else function(self, other)

    return method


def _inplace(name: str) -> Any:
    def method(self: Array, other: ArrayLike) -> Any:
        other = _other(self, other)
        if other is NotImplemented:
            return NotImplemented
        return getattr(self.backend.xp, name)(self, other, out=self)

    return method


def mixed(array: ArrayLike, other: ArrayLike) -> TypeError:
    """Returns the error raised where arrays of two kinds meet.

    Args:
        array: An array of ours.
        other: The other one.
    """
    return TypeError(
        f"Unsupported type {type(other)}: arrays of {array.backend.name!r} do not mix with it; "
        "move it to the device first"
    )


def _unary(name: str) -> Any:
    return lambda self: getattr(self.backend.xp, name)(self)


for _name in _METHODS.split():
    setattr(Array, _name, _method(_name))
for _name, _function in _BINARY.items():
    setattr(Array, f"__{_name}__", _binary(_function))
    setattr(Array, f"__r{_name}__", _binary(_function, reflected=True))
    setattr(Array, f"__i{_name}__", _inplace(_function))
for _name, _function in _COMPARISONS.items():
    setattr(Array, f"__{_name}__", _binary(_function))
for _name, _function in _UNARY.items():
    setattr(Array, f"__{_name}__", _unary(_function))


def array_class(name: str, base: type[Array] = Array) -> type[Array]:
    """Makes the class of the arrays of a backend.

    Args:
        name: Name of the backend.
        base: Class that it derives from.
    """
    title = "".join(part.capitalize() for part in name.replace("-", "_").split("_"))
    body = {"__slots__": (), "__doc__": f"An array of the backend {name!r}.", "__hash__": None}
    return type(f"{title}Array", (base,), body)
