"""Backend of a library that follows the array API standard."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy
from chainer.backend import CurrentDevice, OpaqueLayoutBackend
from chainer.device import Device

from chainer_array_api import dtypes
from chainer_array_api.array import Array, array_class
from chainer_array_api.functions import indexing, scattering
from chainer_array_api.namespace import Namespace, RandomNumbers

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike, Index

_CPU = 1  # kDLCPU of DLPack


class ArrayAPIBackend(OpaqueLayoutBackend):
    """A backend on a library that follows the Python array API standard.

    A subclass names the library; an instance of it is registered as every backend is:

    .. code-block:: python

        class DpnpBackend(ArrayAPIBackend):
            name = "dpnp"
            namespace = "dpnp"
            native_types = ("dpnp.dpnp_array:dpnp_array",)
            install = 'pip install dpnp'

    Methods below the line are what differs between libraries that follow the standard: the layout
    of their arrays in memory, and their devices. They may be overridden.

    Attributes:
        name: Name of the backend, in device specifiers ``'@name:0'``.
        namespace: Module with the functions of the standard: the library itself, or what
            ``array_api_compat`` has for it.
        native_types: Classes of the library's arrays, as ``'module:Class'``. Chainer wraps such
            arrays where it is given one.
        functions: Functions of ``xp`` that the library has beyond the standard, or has better: they
            get the backend and then NumPy's arguments.
        steps_backwards: Whether slices may have negative steps, as the standard asks.
        slices_as_numpy: Whether slices may reach beyond the end of an axis, and axes at the end be
            left out, as in NumPy; the standard does not ask for it.
        install: How to get the library, for the message when it is missing.
        array_base: Class that ``array_class`` derives from: :class:`~chainer_array_api.Array`, or a
            subclass that keeps ``native`` in another way.
        array_class: Class of the arrays Chainer works with, made of ``array_base``.
    """

    namespace: ClassVar[str] = ""
    native_types: ClassVar[tuple[str, ...]] = ()
    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    steps_backwards: ClassVar[bool] = True
    slices_as_numpy: ClassVar[bool] = False
    install: ClassVar[str] = ""
    array_base: ClassVar[type[Array]] = Array
    array_class: ClassVar[type[Array]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            cls.array_class = array_class(cls.name, cls.array_base)
            cls.array_types = (cls.array_class, *cls.native_types)

    def __init__(self) -> None:
        if not self.namespace:
            raise TypeError(f"{type(self).__name__} must set 'namespace', a module's name")
        self.array_class.backend = self
        self._current = CurrentDevice()

    # -- the protocol of backends -----------------------------------------------------------------

    @cached_property
    def multi_device(self) -> bool:  # type: ignore[override]
        """Whether the library has several devices here."""
        return len(self.native_devices) > 1

    @cached_property
    def xp(self) -> ModuleType:  # type: ignore[override]
        return Namespace(self)

    def unavailable_reason(self) -> str | None:
        return self._obstacle

    @cached_property
    def _obstacle(self) -> str | None:
        try:
            nx = self.nx
        except ImportError as error:
            hint = f"; {self.install}" if self.install else ""
            return f"cannot import {self.namespace!r} ({error}){hint}"
        return writes_are_seen(nx)

    def version(self) -> str:
        library = self.namespace.removeprefix("array_api_compat.").partition(".")[0]
        return str(getattr(importlib.import_module(library), "__version__", "unknown"))

    def devices(self) -> Sequence[Device]:
        return tuple(Device(self, index) for index in range(len(self.native_devices)))

    def device(self, index: int | None = None) -> Device:
        index = self.current_index() if index is None else index
        count = len(self.native_devices)
        if not 0 <= index < count:
            raise ValueError(f"there is no device '@{self.name}:{index}', only 0 to {count - 1}")
        return Device(self, index)

    def device_of(self, array: ArrayLike) -> Device:
        return Device(self, self.index_of(self.wrap(array).native))

    def use(self, device: Device) -> AbstractContextManager[Any]:
        return self._current.use(device.index or 0)

    def from_host(self, array: numpy.ndarray[Any, Any], device: Device) -> Array:
        return self.make(numpy.array(array, order="C"), self.native_devices[device.index or 0])

    def to_host(self, array: ArrayLike) -> numpy.ndarray[Any, Any]:
        return numpy.array(self.host_copy(self.wrap(array).native))

    def copy(self, array: ArrayLike, device: Device) -> Array:
        target = self.native_devices[device.index or 0]
        return self.wrap_native(self.nx.asarray(self.wrap(array).native, device=target, copy=True))

    def asarray(self, value: ArrayLike, dtype: DTypeLike = None) -> Array:
        return self.xp.asarray(value, dtype)

    def wrap(self, array: ArrayLike) -> Array:
        """Returns an array of the library as one that Chainer works with; memory is shared."""
        return array if array.__class__ is self.array_class else self.wrap_native(array)

    # -- between the library's arrays and ours ----------------------------------------------------

    @cached_property
    def nx(self) -> Any:
        """The namespace of the standard. (For native arrays; ``xp`` is for ours.)"""
        return importlib.import_module(self.namespace)

    @cached_property
    def native_dtypes(self) -> dict[numpy.dtype[Any], Any]:
        """The library's dtype for each of NumPy's that it has."""
        nx = self.nx
        known = [name for name in dtypes.NAMES if hasattr(nx, name)]
        # As arrays have it: in the namespace there may be a class.
        return {numpy.dtype(n): nx.empty((0,), dtype=getattr(nx, n)).dtype for n in known}

    @cached_property
    def host_dtypes(self) -> dict[Any, numpy.dtype[Any]]:
        """NumPy's dtype for each of the library's."""
        return {native: dtype for dtype, native in self.native_dtypes.items()}

    def native_dtype(self, dtype: DTypeLike) -> Any:
        """Returns the library's dtype.

        Args:
            dtype: Anything :class:`numpy.dtype` takes.

        Raises:
            TypeError: If the library does not have it.
        """
        wanted = numpy.dtype(dtype)
        native = self.native_dtypes.get(wanted)
        if native is None:
            known = dtypes.names_of(tuple(self.native_dtypes))
            raise TypeError(f"{self.name} has no dtype {wanted}; it has {known}")
        return native

    def wrap_native(self, native: Any) -> Array:
        """Returns one of our arrays for one of the library's; memory is shared.

        Args:
            native: The library's array.

        Raises:
            TypeError: If NumPy has no dtype for its elements.
        """
        if native.dtype not in self.host_dtypes:
            raise TypeError(f"NumPy has no dtype for arrays of {native.dtype}")
        return self.array_class(native)

    def make(self, host: numpy.ndarray[Any, Any], device: Any) -> Array:
        """Returns an array with the contents of a NumPy array that no other code writes to.

        Args:
            host: The NumPy array, C-contiguous.
            device: Native device.
        """
        dtype = self.native_dtype(host.dtype)
        return self.array_class(self.nx.asarray(host, dtype=dtype, device=device))

    # -- devices ----------------------------------------------------------------------------------

    @cached_property
    def native_devices(self) -> tuple[Any, ...]:
        """The library's devices, in the order of the indexes in specifiers."""
        return tuple(self.find_devices())

    def current_index(self) -> int:
        """Returns the index of the current device of this thread, or of the block of this task."""
        return self._current.index

    @property
    def current_native_device(self) -> Any:
        """The device on which functions create arrays."""
        return self.native_devices[self.current_index()]

    def index_of(self, native: Any) -> int:
        """Returns the index of the device of a native array.

        Args:
            native: The array.
        """
        return self.native_devices.index(native.device)

    # ------------------------------------- what differs between libraries -----------------------

    def find_devices(self) -> Sequence[Any]:
        """Returns the library's devices: those that have the default dtypes of NumPy."""
        info = self.nx.__array_namespace_info__()
        wanted = {"int64", "float64"}
        devices = [d for d in info.devices() if wanted <= set(info.dtypes(device=d, kind=None))]
        return devices or [info.default_device()]

    def create(self, kind: str, shape: tuple[int, ...], dtype: DTypeLike, device: Any) -> Any:
        """Returns a new native array.

        Args:
            kind: ``'empty'``, ``'zeros'`` or ``'ones'``.
            shape: The shape.
            dtype: Dtype of the library.
            device: Device of the library.
        """
        return getattr(self.nx, kind)(shape, dtype=dtype, device=device)

    def in_host_memory(self, native: Any) -> bool:
        """Tells whether a native array is in memory that NumPy can read.

        Args:
            native: The array.
        """
        return native.__dlpack_device__()[0] == _CPU

    def host_view(self, native: Any) -> numpy.ndarray[Any, Any]:
        """Returns a NumPy array that shares the memory of a native array in host memory.

        Args:
            native: The array.
        """
        return numpy.from_dlpack(native)

    def host_copy(self, native: Any) -> numpy.ndarray[Any, Any]:
        """Returns the contents of a native array as a NumPy array, which may share its memory.

        Args:
            native: The array.
        """
        if self.in_host_memory(native):
            return self.host_view(native)
        return numpy.from_dlpack(native, device="cpu")

    def is_contiguous(self, native: Any) -> bool:
        """Returns whether the elements are in memory row by row; False where it is not known.

        Args:
            native: The array.
        """
        return self.in_host_memory(native) and bool(self.host_view(native).flags.c_contiguous)

    def repeats_elements(self, native: Any) -> bool:
        """Tells whether elements share memory with others of the same array, as far as is known.

        Args:
            native: The array.
        """
        if not self.in_host_memory(native):
            return False
        view = self.host_view(native)
        return any(step == 0 and n > 1 for step, n in zip(view.strides, view.shape, strict=True))

    def owner(self, native: Any) -> Any:
        """Returns an object that arrays have in common if they may share memory.

        By default all do: then Chainer copies where it must not hand out the same memory twice.

        Args:
            native: The array.
        """
        return self

    def may_share_memory(self, first: ArrayLike, second: ArrayLike) -> bool:
        """Tells whether two native arrays may overlap.

        Args:
            first: One array.
            second: The other one.
        """
        if not (self.in_host_memory(first) and self.in_host_memory(second)):
            return True
        return bool(numpy.may_share_memory(self.host_view(first), self.host_view(second)))

    def elementwise(self, name: str) -> Callable[..., Any]:
        """Returns a function of elements. Its arguments are of one dtype, which NumPy has chosen.

        Args:
            name: Name in the standard.
        """
        return getattr(self.nx, name)

    def can_write(self, out: ArrayLike, dtype: DTypeLike, operands: list[Any]) -> bool:
        """Tells whether functions of elements take ``out``, which the standard does not have.

        Args:
            out: Native array to write to.
            dtype: Native dtype of the result.
            operands: Native arrays and numbers.
        """
        return False

    # Reading, writing and views: what a library whose arrays cannot be changed does in another way.

    def get(self, x: Array, index: Index) -> Array:
        """Returns ``x[index]``, a view where NumPy's is one.

        Args:
            x: The array.
            index: The index in the brackets.
        """
        return indexing.get(self, x, index)

    def set(self, x: Array, index: Index, value: ArrayLike) -> None:
        """Performs ``x[index] = value``.

        Args:
            x: The array.
            index: The index in the brackets.
            value: Number or array; broadcast and converted.
        """
        indexing.set(self, x, index, value)

    def add_at(self, x: Array, index: Index, value: ArrayLike) -> None:
        """Adds to elements; those that are selected twice get both.

        Args:
            x: The array, changed in place.
            index: The index in the brackets.
            value: Number or array; broadcast and converted.
        """
        indexing.add_at(self, x, index, value)

    def assign(self, x: Array, native: Any) -> None:
        """Assigns all elements.

        Args:
            x: The array, changed in place.
            native: Native array of the same shape and dtype.
        """
        x.native[...] = native

    def moved(
        self, function: Callable[..., Any], natives: tuple[Any, ...], parameters: tuple[Any, ...]
    ) -> Any:
        """Returns ``function(namespace, *natives, *parameters)``.

        A library that compiles a program for each shape may override it, and move small arrays in
        another way.

        Args:
            function: A function that moves elements and computes nothing, as those in the module
                ``functions.moves`` do. It is the same object in each call, and also takes NumPy's
                namespace with NumPy's arrays.
            natives: Native arrays.
            parameters: Further arguments, which have a hash.
        """
        return function(self.nx, *natives, *parameters)

    def reshaped(self, x: Array, shape: tuple[int, ...]) -> Array:
        """Returns the elements in another shape, as a view where that is possible.

        Args:
            x: The array.
            shape: Shape with as many elements.
        """
        return self.array_class(self.nx.reshape(x.native, shape))

    def permuted(self, x: Array, axes: tuple[int, ...]) -> Array:
        """Returns a view with the axes in another order.

        Args:
            x: The array.
            axes: The axes, each once, numbered from 0.
        """
        return self.array_class(self.nx.permute_dims(x.native, axes))

    def same(self, x: Array) -> Array:
        """Returns another array of the same memory.

        Args:
            x: The array.
        """
        return self.array_class(x.native[...])

    def duplicate(self, x: Array) -> Array:
        """Returns a copy.

        Args:
            x: The array.
        """
        return self.array_class(self.nx.asarray(x.native, copy=True))

    def rearrange(self, x: Array, view: Array) -> None:
        """Makes an array have the shape of a view of it.

        Args:
            x: The array, changed in place.
            view: The view.
        """
        x.native = view.native

    def owner_of(self, x: Array) -> Any:
        """Returns an object that arrays have in common if they may share memory.

        Args:
            x: The array.
        """
        return self.owner(x.native)

    def native_device_of(self, x: Array) -> Any:
        """Returns the library's device of an array.

        Args:
            x: The array.
        """
        return x.native.device

    def native_number(self, value: ArrayLike, dtype: numpy.dtype[Any], device: Any) -> Any:
        """Returns a native array without axes.

        Args:
            value: Number of Python.
            dtype: Dtype of the array.
            device: Native device.
        """
        return self.nx.asarray(value, dtype=self.native_dtype(dtype), device=device)

    def random_numbers(self) -> Any:
        """Returns ``xp.random``. By default NumPy draws."""
        return RandomNumbers(self)

    def gather(self, native: Any, indices: list[Any]) -> Any:
        """Returns ``native[tuple(indices)]``.

        Args:
            native: Native array; the indices belong to its first axes.
            indices: Native arrays of integers, which may be negative, all of one shape.
        """
        return scattering.gather(self, native, indices)

    def scatter(self, native: Any, indices: list[Any], values: ArrayLike, add: bool) -> None:
        """Performs ``native[tuple(indices)] = values``, or adds.

        Args:
            native: Native array, changed in place; the indices belong to its first axes.
            indices: Native arrays of integers, which may be negative, all of one shape.
            values: Native array of the shape of the selection.
            add: Whether to add; elements selected several times then get all values.
        """
        scattering.scatter(self, native, indices, values, add)


def writes_are_seen(nx: Any) -> str | None:
    """Returns None if arrays can be changed, and views see it; else what is missing.

    The standard leaves both open, and Chainer needs both.

    Args:
        nx: Namespace of the standard.
    """
    array = nx.zeros((2, 3), dtype=nx.float32)
    try:
        nx.reshape(array, (6,))[1:2] = 1.0
        nx.permute_dims(array, (1, 0))[2:, ...] = 1.0
    except (TypeError, NotImplementedError) as error:
        return f"its arrays cannot be changed in place, which Chainer needs ({error})"
    if float(nx.sum(array)) != 3.0:
        return "writing to a view does not change the array it is a view of, which Chainer needs"
    return None
