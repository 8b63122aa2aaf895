"""Declarations of kernels: which calls an implementation of an operation supports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from chainer.core.arrays.capabilities import Limitations, check
from chainer.core.arrays.protocol import Backend
from chainer.core.registry import registries
from chainer.core.typing import Array, DType, Shape


class ArraySpec(NamedTuple):
    """Description of an array that is passed to a kernel's ``supports``.

    Attributes:
        shape: Shape.
        dtype: Data type.
        contiguous: Whether the array is C-contiguous.
        transposed: Whether it is the transpose of a C-contiguous array, and not C-contiguous.

    Example:
        >>> from chainer.kernel import ArraySpec
        >>> spec = ArraySpec.of(np.zeros((2, 3), np.float32).T)
        >>> spec.shape, spec.dtype.name, spec.contiguous, spec.transposed
        ((3, 2), 'float32', False, True)
    """

    shape: Shape
    dtype: DType
    contiguous: bool
    transposed: bool = False

    @classmethod
    def of(cls, array: Array | None) -> ArraySpec | None:
        """Returns the description of an array; None for an array that is left out.

        Args:
            array: Array of any backend, or None.
        """
        if array is None:
            return None
        # Arrays of some libraries have no flags; they are always contiguous.
        flags = getattr(array, "flags", None)
        if flags is None:
            return cls(tuple(array.shape), array.dtype, True)
        contiguous = bool(flags.c_contiguous)
        transposed = not contiguous and bool(flags.f_contiguous)
        return cls(tuple(array.shape), array.dtype, contiguous, transposed)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class CallSpec:
    """A call of an operation, as a kernel's ``supports`` sees it.

    Attributes:
        arrays: One :class:`ArraySpec` (or None) for each array argument, in the order of the
            operation's documentation.
        attributes: The other arguments of the call, by name.
        deterministic: Whether the user demands deterministic kernels.

    Example:
        >>> from chainer.kernel import ArraySpec, CallSpec
        >>> spec = CallSpec((ArraySpec.of(np.zeros((2, 3), np.float32)), None), {"axis": 1})
        >>> spec.arrays[0].ndim, spec.arrays[1], spec.attributes["axis"]
        (2, None, 1)
    """

    arrays: tuple[ArraySpec | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    deterministic: bool = False


def _always(spec: CallSpec) -> bool:
    return True


def _available() -> None:
    return None


@dataclass(frozen=True)
class KernelDeclaration:
    """Declares an implementation of an operation for one array type.

    Attributes:
        operation: Name of the operation.
        array_type: Array class that it works on, or its lazy name ``'module:Class'``.
        provider: Name of the provider, such as ``'cudnn'`` or the name of a plugin. A kernel whose
            provider has the name of the backend of ``array_type`` is always enabled. Other kernels
            are enabled only if the configuration says so.
        load: Class or function ``load(backend) -> object with the methods of the operation``, or a
            lazy reference to it, which is imported when the kernel is first chosen.
        supports: Function that takes a :class:`CallSpec`. It returns True if the kernel supports
            the call, and otherwise the reason (a text) or False. The result must depend on the
            argument only. May be a lazy reference.
        priority: If several kernels support a call, the one with the highest priority is chosen.
        unavailable: Function that returns None if the provider works on this machine, and otherwise
            what is missing. May be a lazy reference.
        unconditional: Whether the kernel is enabled regardless of the configuration.
        limitations: What its results lack: name of a capability, such as ``'deterministic'`` or
            ``'precise_float64'`` (:data:`chainer.backend.CAPABILITIES`) -> the reason. ``supports``
            refuses calls that the kernel cannot serve at all.
        speedup: How many times as fast as the reference the kernel serves a call that it supports,
            forward and backward together: a number, or a function that takes a :class:`CallSpec`
            (:class:`~chainer.kernel.SpeedupBySize` for one that looks at the size), or a lazy
            reference to either. Measure it. With ``chainer.config.accelerate = 'auto'`` the fastest
            kernel serves the call, and the reference where no kernel is above 1. A kernel without a
            speedup (None) does not take part.
        test_environment: Environment variables of the processes in which ``chainer certify`` tests
            the kernels of the provider, such as one with which they serve small arrays, too. Those
            of the user win.

    Example:
        A kernel for float32 arrays. Its module is imported when it is first chosen:

        >>> from chainer.kernel import Kernel
        >>> kernel = Kernel(
        ...     operation="softmax",
        ...     array_type="numpy:ndarray",
        ...     provider="shiny",
        ...     load="chainer_shiny.kernels:SoftmaxKernel",
        ...     supports=lambda spec: spec.arrays[0].dtype == "float32" or "takes float32 only",
        ... )
        >>> kernel.key
        'softmax/shiny/numpy:ndarray'
    """

    operation: str
    array_type: type | str
    provider: str
    load: Callable[[Backend], Any] | str
    supports: Callable[[CallSpec], bool | str] | str = _always
    priority: int = 0
    unavailable: Callable[[], str | None] | str = _available
    unconditional: bool = False
    # A mapping has no hash; declarations with equal other fields may share one.
    limitations: Limitations = field(default_factory=dict[str, str], hash=False)
    speedup: Callable[[CallSpec], float] | float | str | None = None
    test_environment: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)

    def __post_init__(self) -> None:
        # A misspelled type would match no array, and the kernel would be left out in silence.
        array_type: Any = self.array_type
        if not (
            isinstance(array_type, type) or (isinstance(array_type, str) and ":" in array_type)
        ):
            raise ValueError(
                "array_type of a kernel must be a class or a name such as 'numpy:ndarray', "
                f"got {array_type!r}"
            )
        check(f"the kernel {self.key!r}", self.limitations)
        given: Any = self.test_environment
        pairs: list[tuple[Any, Any]] = [(None, None)]
        if isinstance(given, Mapping):
            pairs = list(cast("Mapping[Any, Any]", given).items())
        if not all([isinstance(text, str) for pair in pairs for text in pair]):
            raise TypeError(
                f"test_environment of the kernel {self.key!r} must be a dict of texts, got "
                f"{given!r}"
            )

    @property
    def key(self) -> str:
        """Name of the declaration in the registry of kernels."""
        array_type = self.array_type
        if isinstance(array_type, type):
            array_type = f"{array_type.__module__}:{array_type.__qualname__}"
        return f"{self.operation}/{self.provider}/{array_type}"


def register_kernel(kernel: KernelDeclaration, registry: Any = None, **kwargs: Any) -> None:
    """Registers a kernel. Plugins call it in their ``chainer_kernels`` hook.

    Args:
        kernel: The declaration.
        registry: The registry that the hook was given; by default the one of this process.
        kwargs: Further arguments of :meth:`Registry.register`.

    Example:
        A kernel of a plugin, which the last line removes:

        >>> from chainer.kernel import Kernel, register_kernel
        >>> class Shiny:
        ...     def chainer_kernels(self, registry):
        ...         register_kernel(Kernel("softmax", np.ndarray, "shiny", ShinySoftmax), registry)
        >>> class ShinySoftmax:
        ...     def __init__(self, backend):
        ...         pass
        ...     def forward(self, x, axis):
        ...         e = np.exp(x - x.max(axis, keepdims=True))
        ...         return e / e.sum(axis, keepdims=True)
        ...     def backward(self, y, gy, axis):
        ...         return y * (gy - (y * gy).sum(axis, keepdims=True))
        >>> plugin = Shiny()
        >>> record = chainer.plugins.register(plugin)
        >>> with chainer.using_config("kernels", ("shiny",)):
        ...     chainer.explain("softmax", np.zeros((2, 3), np.float32), axis=1).chosen.provider
        'shiny'
        >>> record = chainer.plugins.unregister(plugin)
    """
    (registries.kernels if registry is None else registry).register(kernel.key, kernel, **kwargs)


class ReferenceKernel:
    """Base class of reference kernels: NumPy-API code that runs on any NumPy-like backend.

    Args:
        backend: Backend of the arrays that it will get.

    Attributes:
        backend: That backend.
        xp: Its array namespace.

    Example:
        >>> from chainer.kernel import ReferenceKernel
        >>> class SquareKernel(ReferenceKernel):
        ...     def forward(self, x):
        ...         return self.xp.square(x)
        ...     def backward(self, x, gy):
        ...         return 2 * x * gy
        >>> kernel = SquareKernel(chainer.backend.get_device("@numpy").backend)
        >>> kernel.forward(np.array([1.0, -3.0]))
        array([1., 9.])
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.xp: Any = backend.xp
