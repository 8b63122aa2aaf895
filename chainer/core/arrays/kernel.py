"""Operations and kernels: which implementation of an array-level operation serves a call.

An :class:`Operation` is a named piece of array work (a convolution, a softmax, an Adam update) with
documented methods. A :class:`Kernel` declares one implementation of an operation for one array type
by one provider. Every operation has a reference implementation written against the array namespace
``xp``, which serves every backend that has nothing better.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy

from chainer.core.arrays.backend import (
    HOST_FAMILY,
    Backend,
    backend_of,
    find_backend,
    is_array_type,
    not_an_array_message,
)
from chainer.core.config.configuration import KernelPolicy, threads
from chainer.core.lazy import resolve
from chainer.core.registry import registries

_MEMO_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """What a kernel may know of an array before it is chosen.

    Attributes:
        shape: Shape.
        dtype: Data type.
        contiguous: Whether the array is C-contiguous.
    """

    shape: tuple[int, ...]
    dtype: Any
    contiguous: bool

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        total = 1
        for length in self.shape:
            total *= length
        return total


@dataclass(frozen=True, slots=True)
class CallSpec:
    """A call of an operation as a kernel's ``supports`` sees it.

    Attributes:
        arrays: One :class:`ArraySpec` (or None) for each array argument, in the order of the
            operation's documentation.
        attributes: The other arguments of the call, by name.
        deterministic: Whether the user asked for deterministic kernels.
    """

    arrays: tuple[ArraySpec | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    deterministic: bool = False


def _always(spec: CallSpec) -> bool:
    return True


def _available() -> None:
    return None


@dataclass(frozen=True)
class Kernel:
    """Declaration of an implementation of an operation.

    Attributes:
        operation: Name of the operation.
        array_type: Array class it works on, or its lazy name ``'module:Class'``.
        provider: Who supplies it (``'ideep'``, ``'cudnn'``, a plugin's name). Kernels whose
            provider is the name of the backend of ``array_type`` are always on; others when the
            configuration says so.
        load: Class or factory ``load(backend) -> object with the operation's methods``, or a lazy
            reference to it, imported when first chosen.
        supports: Pure function of a :class:`CallSpec`: True, or the reason why not (a text), or
            False. A lazy reference is allowed.
        priority: Among the kernels that support a call the highest wins.
        unavailable: Function that returns None where the provider works and otherwise what is
            missing; or a lazy reference to it.
        unconditional: Whether the kernel serves whatever the configuration says of its provider:
            the type of the array is choice enough.
    """

    operation: str
    array_type: type | str
    provider: str
    load: Callable[[Backend], Any] | str
    supports: Callable[[CallSpec], bool | str] | str = _always
    priority: int = 0
    unavailable: Callable[[], str | None] | str = _available
    unconditional: bool = False

    @property
    def key(self) -> str:
        """Name of the kernel in the registry."""
        array_type = self.array_type
        if isinstance(array_type, type):
            array_type = f"{array_type.__module__}:{array_type.__qualname__}"
        return f"{self.operation}/{self.provider}/{array_type}"


def register_kernel(kernel: Kernel, registry: Any = None, **kwargs: Any) -> None:
    """Registers a kernel; packs call it from their ``chainer_kernels`` hook.

    Args:
        kernel: The declaration.
        registry: Registry given to the hook; the one of the running process by default.
        kwargs: Passed on to :meth:`Registry.register`.
    """
    (registries.kernels if registry is None else registry).register(kernel.key, kernel, **kwargs)


class ReferenceKernel:
    """Base class of reference kernels: NumPy-API code that runs on any NumPy-like backend.

    Args:
        backend: Backend of the arrays it will get.

    Attributes:
        backend: That backend.
        xp: Its array namespace.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.xp: Any = backend.xp


@dataclass(frozen=True)
class Candidate:
    """A kernel considered for a call, with the reason when it was not chosen."""

    provider: str
    priority: int
    reason: str | None
    kernel: Kernel | None

    @property
    def chosen(self) -> bool:
        """Whether this one serves the call."""
        return self.reason is None


@dataclass(frozen=True)
class Explanation:
    """Which kernel serves a call and why the others do not; printable."""

    operation: str
    array_type: type
    candidates: tuple[Candidate, ...]

    @property
    def chosen(self) -> Candidate:
        """The kernel that serves the call."""
        return next(c for c in self.candidates if c.chosen)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __str__(self) -> str:
        name = f"{self.array_type.__module__}.{self.array_type.__qualname__}"
        lines = [f"{self.operation} on {name} is served by {self.chosen.provider!r}"]
        for candidate in self.candidates:
            mark, text = ("*", "chosen") if candidate.chosen else (" ", candidate.reason)
            lines.append(f"  {mark} {candidate.provider} (priority {candidate.priority}): {text}")
        return "\n".join(lines)


class Operation:
    """A named array-level operation.

    Subclasses are declarations: name, the methods every implementation has (with signatures, shapes
    and dtypes in the docstring) and the reference implementation. One instance per subclass is made
    at module level.

    Attributes:
        name: Name of the operation.
        methods: Names of the methods of an implementation.
        reference: The reference implementation (a :class:`ReferenceKernel` subclass) or a lazy
            reference.
    """

    name: ClassVar[str]
    methods: ClassVar[tuple[str, ...]] = ("forward", "backward")
    reference: ClassVar[Any]
    #: Whether methods write to the arrays they get.
    in_place: ClassVar[bool] = False

    def __init__(self) -> None:
        # policy -> array class -> implementation, or _Chooser where the choice depends on the call
        self._tables: dict[KernelPolicy, dict[type, Any]] = {}
        self._loaded: dict[Any, Any] = {}
        registries.kernels.add_listener(self._forget)

    def _forget(self, *_: Any) -> None:
        self._tables = {}

    def select(self, *arrays: Any, **attributes: Any) -> Any:
        """Returns the implementation that serves a call.

        Args:
            arrays: The arrays of the call (None for one left out). The first decides about the
                backend.
            attributes: The other arguments, hashable.

        Returns:
            An object with the methods named in :attr:`methods`. Keep it for the paired backward
            call.
        """
        policy = threads.state.policy
        try:
            entry = self._tables[policy][type(arrays[0])]
        except KeyError:
            entry = self._build(policy, arrays[0])
        if entry.__class__ is _Chooser:
            return entry.choose(arrays, attributes)
        return entry

    def explain(self, *arrays: Any, **attributes: Any) -> Explanation:
        """Tells which kernel would serve a call and why the others would not."""
        return _explain(self, threads.state.policy, arrays, attributes)

    def kernels_for(self, cls: type) -> list[Kernel]:
        """Returns the kernels declared for an array class, highest priority first."""
        found = [kernel for kernel in _declared(self.name) if is_array_type(kernel.array_type, cls)]
        return sorted(found, key=lambda k: (-k.priority, k.provider))

    def reference_for(self, backend: Backend) -> Any:
        """Returns the reference implementation for a backend."""
        return self._load(None, backend)

    def _load(self, kernel: Kernel | None, backend: Backend) -> Any:
        key = (kernel, backend)
        implementation = self._loaded.get(key)
        if implementation is None:
            factory = resolve(self.reference if kernel is None else kernel.load)
            implementation = factory(backend)
            missing = [m for m in self.methods if not hasattr(implementation, m)]
            if missing:
                who = "the reference" if kernel is None else f"provider {kernel.provider!r}"
                raise TypeError(
                    f"kernel of {who} for operation {self.name!r} lacks {', '.join(missing)}"
                )
            self._loaded[key] = implementation
        return implementation

    def _on_plain_arrays(self, backend: Backend) -> Any:
        """The reference for calls among whose arrays are some that ``xp`` does not make."""
        key = ("plain", backend)
        implementation = self._loaded.get(key)
        if implementation is None:
            reference = self._load(None, backend)
            implementation = self._loaded[key] = _PlainArrays(reference, self)
        return implementation

    def _build(self, policy: KernelPolicy, array: Any) -> Any:
        cls: type[Any] = array.__class__
        backend = find_backend(cls)
        if backend is None:
            raise TypeError(f"{self.name}: {not_an_array_message(array)}")
        if policy.kernels:  # a provider named there may come from a pack that is not loaded yet
            registries.kernels.load_all()
        enabled = [
            kernel
            for kernel in _ordered(self.kernels_for(cls), policy)
            if _switched_off(kernel, backend, policy) is None
        ]
        entry: Any
        if enabled:
            entry = _Chooser(self, policy, backend, enabled)
        else:
            entry = self._load(None, backend)
            if not backend.makes_xp_arrays:
                entry = self._on_plain_arrays(backend)
        self._tables.setdefault(policy, {})[cls] = entry
        return entry

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def _declared(operation: str) -> list[Kernel]:
    prefix = operation + "/"
    return [
        registries.kernels.get(name)
        for name in registries.kernels.names()
        if name.startswith(prefix)
    ]


def _ordered(kernels: list[Kernel], policy: KernelPolicy) -> list[Kernel]:
    """Puts the kernels of preferred providers first, in the order of preference."""
    preferred = {name: i for i, name in enumerate(policy.kernels)}
    return sorted(kernels, key=lambda k: preferred.get(k.provider, len(preferred)))


def _switched_off(kernel: Kernel, backend: Backend, policy: KernelPolicy) -> str | None:
    """Returns why the configuration or the machine excludes a kernel, or None."""
    setting = policy.setting(kernel.provider)
    if kernel.unconditional:
        setting = "auto"
    elif kernel.provider not in ("cudnn", "ideep"):
        if kernel.provider == backend.name and setting == "never":
            setting = "auto"
        elif setting == "never":
            return f"not enabled; name {kernel.provider!r} in chainer.config.kernels to enable it"
    if setting == "never":
        return f"chainer.config.use_{kernel.provider} is 'never'"
    reason = resolve(kernel.unavailable)()
    if reason is not None and setting == "always":
        raise RuntimeError(
            f"the configuration demands provider {kernel.provider!r}, which is not available: "
            f"{reason}"
        )
    return reason


def _spec_of(array: Any) -> ArraySpec | None:
    if array is None:
        return None
    flags = getattr(array, "flags", None)
    contiguous = True if flags is None else bool(flags.c_contiguous)
    return ArraySpec(tuple(array.shape), array.dtype, contiguous)


def _verdict(kernel: Kernel, spec: CallSpec) -> str | None:
    answer = resolve(kernel.supports)(spec)
    if answer is True:
        return None
    return answer if isinstance(answer, str) else "does not support this call"


class _PlainArrays:
    """A reference implementation that gets all arrays as the type that ``xp`` makes."""

    def __init__(self, reference: Any, operation: Operation) -> None:
        self.reference = reference
        for name in operation.methods:
            setattr(self, name, _with_plain_arrays(getattr(reference, name), operation.in_place))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reference, name)


def _with_plain_arrays(method: Callable[..., Any], in_place: bool) -> Callable[..., Any]:
    def convert(value: Any) -> Any:
        cls: type[Any] = value.__class__
        if cls is numpy.ndarray or (cls.__module__ == "builtins" and not _is_sequence(value)):
            return value
        if _is_sequence(value):
            return cls([convert(item) for item in value])
        backend = find_backend(cls)
        if backend is None or backend.makes_xp_arrays:
            return value
        return backend.xp_view(value) if in_place else backend.to_xp(value)

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return method(*map(convert, args), **kwargs)

    return wrapper


def _is_sequence(value: Any) -> bool:
    return value.__class__ is tuple or value.__class__ is list


class _Chooser:
    """Chooses among several kernels by the signature of the call, and remembers the choice."""

    __slots__ = ("_backend", "_kernels", "_memo", "_operation", "_policy")

    def __init__(
        self, operation: Operation, policy: KernelPolicy, backend: Backend, kernels: list[Kernel]
    ) -> None:
        self._operation = operation
        self._policy = policy
        self._backend = backend
        self._kernels = kernels
        self._memo: dict[Any, Any] = {}

    def choose(self, arrays: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        signature = (
            *[None if a is None else (a.shape, a.dtype, a.flags.c_contiguous) for a in arrays],
            *attributes.items(),
        )
        implementation = self._memo.get(signature)
        if implementation is None:
            spec = CallSpec(
                tuple(map(_spec_of, arrays)), dict(attributes), self._policy.deterministic
            )
            kernel = next((k for k in self._kernels if _verdict(k, spec) is None), None)
            operation = self._operation
            if kernel is None and self._backend.family == HOST_FAMILY:
                # Arrays of several backends of the host may meet in a call.
                implementation = operation._on_plain_arrays(self._backend)  # pyright: ignore[reportPrivateUsage]
            else:
                implementation = operation._load(kernel, self._backend)  # pyright: ignore[reportPrivateUsage]
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            self._memo[signature] = implementation
        return implementation


def _explain(
    operation: Operation,
    policy: KernelPolicy,
    arrays: tuple[Any, ...],
    attributes: dict[str, Any],
) -> Explanation:
    registries.kernels.load_all()
    backend = backend_of(arrays[0])
    spec = CallSpec(tuple(map(_spec_of, arrays)), dict(attributes), policy.deterministic)
    candidates: list[Candidate] = []
    chosen = False
    for kernel in _ordered(operation.kernels_for(arrays[0].__class__), policy):
        reason = _switched_off(kernel, backend, policy) or _verdict(kernel, spec)
        if reason is None and chosen:
            reason = "a kernel of higher priority serves the call"
        chosen = chosen or reason is None
        candidates.append(Candidate(kernel.provider, kernel.priority, reason, kernel))
    reason = "an accelerated kernel serves the call" if chosen else None
    candidates.append(Candidate("reference", -1, reason, None))
    return Explanation(operation.name, arrays[0].__class__, tuple(candidates))


def get_operation(name: str) -> Operation:
    """Returns an operation by name.

    Raises:
        LookupError: If there is no operation of this name.
    """
    return registries.operations.get(name)


def explain(operation: str | Operation, *args: Any, **attributes: Any) -> Explanation:
    """Tells which kernel would serve a call, and why the others would not.

    Args:
        operation: Name of an operation (``chainer kernels`` lists them) or the operation itself.
        args: The arrays of the call; Variables are accepted.
        attributes: The other arguments of the call.

    Returns:
        Explanation: Print it.

    Example:
        >>> print(chainer.explain('softmax', np.zeros((2, 3), np.float32), axis=1))
        softmax on numpy.ndarray is served by 'reference'
            ideep (priority 0): chainer.config.use_ideep is 'never'
          * reference (priority -1): chosen
    """
    if not isinstance(operation, Operation):
        operation = get_operation(operation)
    arrays = tuple(
        arg.array
        if hasattr(arg, "creator_node")
        else numpy.asarray(arg)
        if numpy.isscalar(arg)
        else arg
        for arg in args
    )
    return operation.explain(*arrays, **attributes)
