"""The backend on JAX."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy
from chainer.device import Device
from chainer.kernel import Recording
from chainer_array_api import Array, FunctionalArrayBackend, dtypes

from chainer_jax import boxes, indexing
from chainer_jax.boxes import JaxArrayBase
from chainer_jax.moves import Mover
from chainer_jax.random import RandomNumbers

if TYPE_CHECKING:
    from chainer.typing import DTypeLike, Index


class HostReadError(TypeError):
    """The value of an array is needed by Python while a step is recorded."""


class JaxBackend(FunctionalArrayBackend):
    """Arrays of JAX, in boxes that can be written.

    Device ``@jax:i`` is ``jax.devices()[i]``. The first use switches JAX to 64-bit types
    (``jax_enable_x64``), for the whole process: Chainer asks for dtypes by name, and JAX would give
    float32 where float64 is asked for.
    """

    name = "jax"
    namespace = "jax.numpy"
    native_types = ("jaxlib._jax:ArrayImpl",)
    install = "pip install jax"
    array_base = JaxArrayBase
    slices_as_numpy = True
    compiles_each_shape = True
    #: Most of the time of the tests is XLA's, which compiles each operation for each shape: half of
    #: it without these steps, on a CPU.
    quick_environment = {
        "XLA_FLAGS": "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=0 "
        "--xla_llvm_disable_expensive_passes=true --xla_cpu_parallel_codegen_split_count=1"
    }

    # -- the library ------------------------------------------------------------------------------

    @cached_property
    def jax(self) -> Any:
        """The module ``jax``."""
        jax = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        return jax

    @cached_property
    def nx(self) -> Any:
        return self.jax.numpy

    @cached_property
    def obstacle(self) -> str | None:  # type: ignore[override]
        try:
            self.jax.devices()
        except ImportError as error:
            return f"cannot import 'jax' ({error}); {self.install}"
        except RuntimeError as error:  # an accelerator that is configured and does not start
            return f"JAX finds no device ({error})"
        return None

    def version(self) -> str:
        return str(self.jax.__version__)

    @cached_property
    def native_dtypes(self) -> dict[numpy.dtype[Any], Any]:
        return {numpy.dtype(name): numpy.dtype(name) for name in dtypes.NAMES}

    def find_devices(self) -> Sequence[Any]:
        return self.jax.devices()

    def index_of(self, native: Array) -> int:
        if isinstance(native, self.jax.core.Tracer):
            return self.current_index()
        devices = native.devices()
        return self.native_devices.index(next(iter(devices))) if len(devices) == 1 else 0

    @property
    def current_native_device(self) -> Any:
        # None is the default device; a recorded step runs where its arrays are.
        index = self.current_index()
        return None if boxes.state.observer or not index else self.native_devices[index]

    def native_device_of(self, x: Array) -> Any:
        if len(self.native_devices) == 1 or boxes.state.observer:
            return None
        return self.native_devices[self.index_of(x.native)]

    def synchronize(self, device: Device) -> None:
        # JAX has no such call: an array made now is ready when all before it are.
        array = self.jax.device_put(0, self.native_devices[device.index or 0])
        self.jax.block_until_ready(array)

    # -- between host and device ------------------------------------------------------------------

    def make(self, host: numpy.ndarray[Any, Any], device: Any) -> Array:
        self.native_dtype(host.dtype)
        if boxes.state.observer is not None:
            return self.array_class(self.nx.asarray(host, device=device))
        # JAX's own copy is a program of XLA for each shape. This one has no other reference, so
        # that JAX may take its memory as it is, and at any time.
        # An only device is not named: programs are compiled anew for arrays that are bound to one.
        place = device if len(self.native_devices) > 1 else None
        return self.array_class(self.jax.device_put(numpy.array(host, order="C"), place))

    def create(self, kind: str, shape: tuple[int, ...], dtype: DTypeLike, device: Any) -> Any:
        if boxes.state.observer is None and self.native_devices[0].platform == "cpu":
            # JAX compiles a program for each shape. An only device is not named, as in make().
            place = device if len(self.native_devices) > 1 else None
            return self.jax.device_put(getattr(numpy, kind)(shape, dtype), place)
        return super().create(kind, shape, dtype, device)

    def native_number(self, value: Array, dtype: numpy.dtype[Any], device: Any) -> Any:
        return self.nx.asarray(numpy.asarray(value, dtype), device=device)

    def copy(self, array: Array, device: Device) -> Array:
        native = self.wrap(array).native
        if boxes.state.observer is None:
            target = self.native_devices[device.index or 0]
            if self.index_of(native) != (device.index or 0):
                native = self.jax.device_put(native, target)
        return self.array_class(native)

    def in_host_memory(self, native: Array) -> bool:
        if boxes.state.observer is not None or isinstance(native, self.jax.core.Tracer):
            return False
        return all(device.platform == "cpu" for device in native.devices())

    def host_view(self, native: Array) -> numpy.ndarray[Any, Any]:
        if boxes.state.observer is not None:
            raise HostReadError(
                "Python needs the value of an array of the step that is being recorded "
                "(float(), if, item(), a copy to the host)"
            )
        return numpy.asarray(native)

    host_copy = host_view

    # -- reading, writing, views ------------------------------------------------------------------

    def get(self, x: Array, index: Index) -> Array:
        return indexing.get(self, x, index)

    def set(self, x: Array, index: Index, value: Array) -> None:
        indexing.set(self, x, index, value)

    def add_at(self, x: Array, index: Index, value: Array) -> None:
        indexing.add_at(self, x, index, value)

    @cached_property
    def _mover(self) -> Mover:
        return Mover(self)

    def moved(
        self,
        function: Callable[..., Any],
        natives: tuple[Array, ...],
        parameters: tuple[Any, ...],
    ) -> Any:
        return self._mover(function, natives, parameters)

    @cached_property
    def add_elements(self) -> Callable[..., Any]:
        """Adds to elements by one program; JAX compiles seven if it is called outside of one."""
        return self.jax.jit(indexing.add_elements_to)

    def gather(self, native: Array, indices: list[Any]) -> Any:
        indexing.check_bounds(self, native.shape, indices)
        return self.moved(indexing.elements, (native, *indices), ())

    def random_numbers(self) -> Any:
        return RandomNumbers(self)

    def random_mark(self, device: Device) -> Any:
        source = self.random(device)
        return {"draws": source.draws, "host": source.get_state()["host"]}

    def random_keys(self) -> Sequence[Any]:
        return [self.xp.random.box()]

    def make_kernel(self, factory: Any, operation: Any, is_reference: bool) -> Any:
        """Makes a kernel; updates of parameters by the reference become one program each.

        Args:
            factory: Makes the kernel for a backend.
            operation: The operation that the kernel belongs to.
            is_reference: Whether it is the reference kernel, and not one of a provider.
        """
        kernel = super().make_kernel(factory, operation, is_reference)
        # Formulas are left as they are: they may compare numbers, which a program cannot.
        if is_reference and operation.recording is Recording.JOINED:
            from chainer_jax.kernels.updates import OneProgramUpdate

            return OneProgramUpdate(kernel, operation)
        return kernel

    # -- recording --------------------------------------------------------------------------------

    def exported_program(self, data: bytes) -> Any:
        """See :meth:`~chainer.backend.Backend.exported_program`."""
        from jax import export

        from chainer_jax.program import pack

        try:
            program = self.jax.jit(export.deserialize(bytearray(data)).call)
        except Exception as error:  # the reader checks nothing, so anything may happen
            raise ValueError(
                f"it is damaged, or JAX {self.version()} cannot read it ({error!r})"
            ) from error

        def call(arrays: Sequence[Any], numbers: Sequence[float]) -> list[Any]:
            packed = pack(list(numbers))
            values = packed if isinstance(packed, list) else [packed]
            return [numpy.asarray(y) for y in program(*arrays, *values)]

        return call

    def recorder(self, device: Device) -> Any:
        """Returns what :func:`chainer.capture` records a step with.

        Args:
            device: Device of this backend.
        """
        from chainer_jax.recorder import JaxRecorder

        return JaxRecorder(self)


backend = JaxBackend()
