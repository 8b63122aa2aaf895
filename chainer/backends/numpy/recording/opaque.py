"""Arrays in layouts of their own, such as oneDNN's blocks, within a recording.

A kernel of such a provider is recorded as one call. Its result stays in the provider's layout: a
repetition computes it anew, and hands it to the next kernel as it is. Code written against ``xp``
gets a NumPy array by a recorded conversion.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from chainer.backends._cpu import CpuDevice
from chainer.backends.numpy.recording import tape
from chainer.backends.numpy.recording.memory import Held, Opaque
from chainer.backends.numpy.recording.namespace import xp
from chainer.backends.numpy.recording.whole_calls import WholeCalls, record_whole
from chainer.core.arrays import lookup
from chainer.core.arrays.device import Device
from chainer.core.arrays.kernel import Operation
from chainer.core.arrays.opaque_layouts import OpaqueLayoutBackend
from chainer.core.arrays.protocol import Backend
from chainer.core.typing import Array, DType, Shape


class OpaqueHeld(Held):
    """An array in a layout of its own, which each repetition computes anew."""

    def on_tape(self) -> OpaqueTapeArray:
        """Returns the array of the recording that represents it."""
        return _backends[type(self.value)].cls(self)


class OpaqueTapeArray(Opaque):
    """An array of a recording in a layout of its own. Classes for each backend derive from it.

    It has the arithmetic that backward passes need. Everything else is asked of its NumPy array.

    Args:
        held: The array, and where later calls find the arrays of repetitions.
    """

    backend: RecordingOpaqueBackend

    def __init__(self, held: OpaqueHeld) -> None:
        self.held = held

    @property
    def shape(self) -> Shape:
        """Shape."""
        return tuple(self.held.value.shape)

    @property
    def dtype(self) -> DType:
        """Data type."""
        return self.held.value.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.held.value.size

    @property
    def nbytes(self) -> int:
        """Number of bytes of the elements."""
        return self.size * self.dtype.itemsize

    @property
    def flags(self) -> Any:
        """Flags, which say how NumPy sees the array."""
        return self.held.value.flags

    @property
    def base(self) -> None:
        """None: such an array owns its memory. Asked before gradients are added up in place."""
        return None

    def plain(self) -> Any:
        """Returns a NumPy array of the recording with the same elements."""
        return record_whole(self.backend.original.to_xp, self)

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Returns the sum by the method of the array, which may add in another order than NumPy."""
        return record_whole(_sum, self, axis, dtype, keepdims)

    def __len__(self) -> int:
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols of NumPy and Python that the class does not have
            raise AttributeError(name)
        return getattr(self.plain(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.plain()[index]

    def __iter__(self) -> Any:
        return iter(self.plain())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(_plain, inputs), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return tape.record(function, args, kwargs)


def conversion_to_memory(function: Callable[..., Any]) -> Callable[..., None] | None:
    """Returns a function that converts an array into given memory.

    Args:
        function: Function of a recorded call.

    Returns:
        A function of the array and the memory; None if ``function`` is not the conversion of
        arrays in layouts of their own to NumPy arrays.
    """
    owner = getattr(function, "__self__", None)
    if isinstance(owner, OpaqueLayoutBackend) and function == owner.to_xp:
        return owner.copy_to_xp
    return None


def _sum(array: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    return array.sum(axis=axis, dtype=dtype, keepdims=keepdims)


def _plain(value: Any) -> Any:
    return value.plain() if isinstance(value, OpaqueTapeArray) else value


def _recorded(function: Callable[..., Any], swapped: bool = False) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        operands = (*others, self) if swapped else (self, *others)
        return record_whole(function, *operands)

    return method


for _name in ("add", "sub", "mul", "truediv", "neg", "iadd", "isub", "imul", "itruediv"):
    _function = getattr(operator, _name)
    setattr(OpaqueTapeArray, f"__{_name}__", _recorded(_function))
for _name in ("add", "sub", "mul", "truediv"):
    setattr(OpaqueTapeArray, f"__r{_name}__", _recorded(getattr(operator, _name), swapped=True))


class RecordingOpaqueBackend(OpaqueLayoutBackend):
    """The backend of arrays of a recording that represent arrays of another backend.

    Args:
        original: The backend of the arrays that they represent.
        array_type: Class of those arrays.
        plain: The backend of the NumPy arrays of recordings.
    """

    family = lookup.HOST_FAMILY
    converts_inputs = True

    def __init__(self, original: OpaqueLayoutBackend, array_type: type, plain: Backend) -> None:
        # Settings such as `use_ideep` concern these arrays as well.
        vars(self)["name"] = original.name
        self.original = original
        self.represents = array_type
        self._plain = plain
        members = {"backend": self}
        self.cls = type(f"Recorded_{array_type.__name__}", (OpaqueTapeArray,), members)
        vars(self)["array_types"] = (self.cls,)

    @property
    def xp(self) -> Any:
        """The namespace whose results are recorded."""
        return xp

    @property
    def xp_backend(self) -> Backend:
        return self._plain

    def devices(self) -> Sequence[Device]:
        """Returns the CPU."""
        return (CpuDevice(),)

    def from_host(self, array: Array, device: Device) -> Array:
        """Returns a NumPy array of the recording, in the same memory."""
        return self._plain.from_host(array, device)

    def to_host(self, array: Array) -> Array:
        """Returns a plain copy of the present elements."""
        return self.original.to_host(_value(array))

    def to_xp(self, array: Array) -> Array:
        """Returns a NumPy array of the recording; the conversion is recorded."""
        return _plain(array)

    def make_kernel(
        self, factory: Callable[[Backend], Any], operation: Operation, is_reference: bool
    ) -> Any:
        """Returns a kernel whose calls are recorded as they are."""
        if is_reference:
            return self._plain.make_kernel(factory, operation, True)
        return WholeCalls(factory(self.original), operation)


def _value(array: Any) -> Any:
    return array.held.value if isinstance(array, OpaqueTapeArray) else tape.bare(array)


#: The backends for recordings, by the class of the arrays that they represent.
_backends: dict[type, RecordingOpaqueBackend] = {}


def held_array(array: Any, original: Backend, plain: Backend) -> OpaqueHeld | None:
    """Returns the holder of an array that a kernel returned; None if its layout is an open one.

    Args:
        array: The array.
        original: Its backend.
        plain: The backend of the NumPy arrays of recordings.
    """
    if not isinstance(original, OpaqueLayoutBackend) or original.makes_xp_arrays:
        return None
    cls: type = type(array)
    if cls not in _backends:
        backend = _backends.setdefault(cls, RecordingOpaqueBackend(original, cls, plain))
        lookup.add_private_backend(backend.cls, backend)
    return OpaqueHeld(array)
