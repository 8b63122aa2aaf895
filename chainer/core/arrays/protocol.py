"""Definition of a backend: an array type, and what the framework must know about it.

Everything else (which functions exist, how they are differentiated) is written once, against the
array namespace ``xp`` of the backend and against kernels (:mod:`chainer.core.arrays.kernel`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy

from chainer.core.arrays.capabilities import Limitations
from chainer.core.arrays.conversions import ArrayConversions
from chainer.core.arrays.device import Device
from chainer.core.arrays.seeded_marks import SeededMarks, drawn_seed
from chainer.core.typing import Array, ArrayLike, DTypeLike, HostArray

if TYPE_CHECKING:
    from chainer.core.arrays.recorder import Recorder


class Backend(ArrayConversions):
    """An array type and what the framework must know about it.

    Subclass it, set ``name`` and ``array_types``, and define :meth:`xp`, :meth:`from_host` and
    :meth:`to_host`. Define further methods if their defaults are wrong for the array type. Register
    an instance in a plugin (hook ``chainer_backends``) or at run time with
    ``chainer.plugins.register``. If ``xp`` makes arrays of another type, subclass
    :class:`~chainer.core.arrays.opaque_layouts.OpaqueLayoutBackend` instead.

    Attributes:
        name: Name in device specifiers: ``'@name'``.
        array_types: Array classes, or lazy names ``'module:Class'`` of classes whose library is not
            imported until one of its arrays exists.
        family: Name of a group of backends. Arrays of one family may be mixed in one call, and a
            kernel may return arrays of another backend of the family. All arrays in host memory
            that NumPy understands belong to the family ``'host'``. By default no other backend is
            in the family.
        is_accelerator: Whether functions that define ``forward_cpu`` and ``forward_gpu`` instead of
            ``forward`` run ``forward_gpu`` for its arrays.
        multi_device: Whether there may be more than one device. If so, the device of the inputs is
            made current while a function runs; if not, the framework does not ask for devices.
            Default: the value of ``is_accelerator``.
        converts_inputs: Whether NumPy arrays are converted by :meth:`from_host` when a function
            gets them together with arrays of the backend. For backends of the family ``'host'``.
        limitations: What the arrays cannot do: name of a capability
            (:mod:`chainer.core.arrays.capabilities`) -> the reason. May be a property.
        quick_environment: Environment variables of the processes that test the backend in
            ``chainer certify --quick``, such as a switch by which a compiler does less. A variable
            that the user has set keeps its value. May be a property.
        compiles_each_shape: Whether the library compiles each operation for each shape, which takes
            most of the time of tests. ``chainer certify --quick`` then takes fewer samples of each
            function.

    Example:
        >>> class Tagged(np.ndarray):
        ...     pass
        >>> class TaggedBackend(chainer.backend.Backend):
        ...     name, array_types, xp = "tagged", (Tagged,), np
        ...     def from_host(self, array, device):
        ...         return np.array(array).view(Tagged)
        ...     def to_host(self, array):
        ...         return np.array(array)
        >>> type(TaggedBackend().from_host(np.zeros(2), None)).__name__
        'Tagged'
    """

    name: ClassVar[str]
    array_types: ClassVar[tuple[type | str, ...]]
    family: ClassVar[str] = ""
    is_accelerator: ClassVar[bool] = False
    multi_device: ClassVar[bool] = False
    converts_inputs: ClassVar[bool] = False
    limitations: ClassVar[Limitations] = {}
    quick_environment: ClassVar[Mapping[str, str]] = {}
    compiles_each_shape: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.family and "name" in cls.__dict__:
            cls.family = cls.name
        cls.makes_xp_arrays = cls.to_xp is ArrayConversions.to_xp
        if cls.is_accelerator and "multi_device" not in cls.__dict__:
            cls.multi_device = True

    @property
    def xp(self) -> ModuleType:
        """Array namespace with the NumPy API."""
        raise NotImplementedError(f"backend {type(self).__name__} must define xp")

    def unavailable_reason(self) -> str | None:
        """Returns what is missing on this machine and how to get it; None if the backend works."""
        return None

    def version(self) -> str:
        """Returns the version of the library behind the backend."""
        return str(getattr(self.xp, "__version__", "unknown"))

    def devices(self) -> Sequence[Device]:
        """Returns the devices of the backend; a single one without an index by default."""
        return (Device(self),)

    def device(self, index: int | None = None) -> Device:
        """Returns one device.

        Args:
            index: Index of the device; the current device if None.

        Raises:
            ValueError: If the backend has no such device.
        """
        if index not in (None, 0):
            raise ValueError(f"backend {self.name!r} has one device only, got index {index}")
        return self.devices()[0]

    def device_of(self, array: Array) -> Device:
        """Returns the device of an array.

        Args:
            array: Array of this backend.
        """
        return self.device()

    def use(self, device: Device) -> AbstractContextManager[Any]:
        """Makes a device current, at once and until the returned context manager exits.

        Args:
            device: Device of this backend.
        """
        return nullcontext(device)

    def synchronize(self, device: Device) -> None:
        """Waits until everything submitted to a device is done.

        Args:
            device: Device of this backend.
        """

    def from_host(self, array: numpy.ndarray[Any, Any], device: Device) -> Array:
        """Returns a copy of a NumPy array on a device; the array itself if memory is shared.

        Args:
            array: NumPy array.
            device: Device of this backend.
        """
        raise NotImplementedError(f"backend {type(self).__name__} must define from_host()")

    def to_host(self, array: Array) -> numpy.ndarray[Any, Any]:
        """Returns the contents of an array as a NumPy array.

        Args:
            array: Array of this backend.
        """
        raise NotImplementedError(f"backend {type(self).__name__} must define to_host()")

    def copy(self, array: Array, device: Device) -> Array:
        """Returns a copy of an array on a device.

        Args:
            array: Array of this backend, on any of its devices.
            device: Device of this backend.
        """
        return array.copy()

    def asarray(self, value: ArrayLike, dtype: DTypeLike = None) -> Array:
        """Converts a number to an array; returns an array of this backend without a copy.

        Args:
            value: Number or array.
            dtype: Data type of the result; by default the data type of ``value``.
        """
        return self.xp.asarray(value, dtype)

    def random(self, device: Device) -> Any:
        """Returns the source of random numbers: an object with the API of ``numpy.random``.

        Args:
            device: Device of this backend.
        """
        return self.xp.random

    def seed_random(self, seed: int, device: Device) -> None:
        """Seeds the source of random numbers.

        Args:
            seed: Integer from 0 to 2**32 - 1.
            device: Device of this backend.
        """
        with self.use(device):
            self.random(device).seed(seed)

    def random_state(self, device: Device) -> Any:
        """Returns the state of the source of random numbers.

        The default is the result of the source's method ``get_state``. Many libraries cannot read
        the state of their generators. A source without this method is therefore seeded with a
        number that it draws, and the number is returned. After :meth:`set_random_state` the source
        repeats the numbers that follow this call.

        Args:
            device: Device of this backend.

        Returns:
            Numbers, texts and NumPy arrays, and dictionaries and lists of them.
        """
        with self.use(device):
            source = self.random(device)
            if hasattr(source, "get_state"):
                return source.get_state(legacy=False)
            seed = drawn_seed(self, device)
        self.seed_random(seed, device)
        return seed

    def random_mark(self, device: Device) -> Any:
        """Returns a value that differs from an earlier one if random numbers were drawn between.

        The default is :meth:`random_state`. A backend may return less than the whole state, if that
        takes less time. Marks are compared like states. A source whose state cannot be read is
        seeded, and its next number is compared with the first one of that seed. This takes two
        draws and two seeds, so a backend with such a source should override the method.

        Args:
            device: Device of this backend.

        Returns:
            Numbers, texts and NumPy arrays, and dictionaries and lists of them.
        """
        if hasattr(self.random(device), "get_state"):
            return self.random_state(device)
        return self._seeded_marks.mark(device)

    @cached_property
    def _seeded_marks(self) -> SeededMarks:
        return SeededMarks(self)

    def set_random_state(self, state: Any, device: Device) -> None:
        """Sets the source of random numbers to what :meth:`random_state` returned.

        Args:
            state: The state.
            device: Device of this backend.
        """
        if isinstance(state, int):
            self.seed_random(state, device)
        else:
            with self.use(device):
                self.random(device).set_state(state)

    def make_kernel(
        self, factory: Callable[[Backend], Any], operation: Any, is_reference: bool
    ) -> Any:
        """Makes a kernel for the arrays of this backend.

        Backends need not define it. The backend of recordings does: it records each call of a
        kernel as a single step.

        Args:
            factory: Makes the kernel for a backend.
            operation: The operation that the kernel belongs to.
            is_reference: Whether it is the reference kernel, and not one of a provider.
        """
        return factory(self)

    def recorder(self, device: Device) -> Recorder | None:
        """Returns a new recorder of steps on a device; None if the backend cannot record.

        :func:`chainer.capture` uses it. A backend that does not define it runs every step as it is
        written.

        Args:
            device: Device of this backend.
        """
        return None

    def exported_program(
        self, data: bytes
    ) -> Callable[[Sequence[HostArray], Sequence[float]], Sequence[HostArray]]:
        """Returns a program from a file that :meth:`Program.portable` described.

        Args:
            data: The bytes of the program.

        Returns:
            callable: Function of a list of NumPy arrays and a list of numbers, which returns NumPy
                arrays.

        Raises:
            ValueError: If the backend has no such programs, or the bytes are not one.
        """
        raise ValueError(f"backend {self.name!r} has no programs in files")

    def random_keys(self) -> Sequence[Any]:
        """Returns the states of the backend's own random generators, so that they can be restored.

        Each has an attribute ``value`` and a method ``write(value)``. By default there are none.
        """
        return ()

    def __repr__(self) -> str:
        return f"<backend {self.name}>"
