"""The one switch for speed: ``chainer.config.accelerate``.

A kernel takes part if its declaration has a ``speedup``: how many times as fast as the reference it
serves a call, as its provider has measured. Of the kernels that support a call, the fastest serves
it; where none is faster, the reference does.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy

from chainer.core.arrays.kernel_declaration import CallSpec, KernelDeclaration
from chainer.core.arrays.lookup import find_backend
from chainer.core.arrays.opaque_layouts import OpaqueLayoutBackend
from chainer.core.arrays.protocol import Backend
from chainer.core.config.kernel_policy import KernelPolicy
from chainer.core.lazy import resolve
from chainer.core.registry import registries

#: The note of ``chainer.explain`` and of the doctor names the switch in this way.
SETTING = "chainer.config.accelerate = 'auto'"


def elements(spec: CallSpec) -> int:
    """Returns the number of elements of the first array of a call.

    Args:
        spec: The call.
    """
    first = spec.arrays[0]
    return 0 if first is None else first.size


@dataclass(frozen=True)
class SpeedupBySize:
    """A measured speedup that depends on the size of a call.

    Attributes:
        steps: Pairs of a size and the speedup from this size on, in ascending order. Below the
            first size, the reference is as fast.
        size: Function that takes a :class:`CallSpec` and returns the size; by default the number of
            elements of the first array.

    Example:
        >>> from chainer.kernel import ArraySpec, CallSpec, SpeedupBySize
        >>> speedup = SpeedupBySize(((1 << 16, 1.2), (1 << 18, 1.8)))
        >>> speedup(CallSpec((ArraySpec((512, 512), np.dtype('f'), True),)))
        1.8
    """

    steps: tuple[tuple[int, float], ...]
    size: Callable[[CallSpec], int] = field(default=elements, repr=False)

    def __call__(self, spec: CallSpec) -> float:
        """Returns the speedup of a call.

        Args:
            spec: The call.
        """
        size = self.size(spec)
        found = 1.0
        for least, ratio in self.steps:
            if size >= least:
                found = ratio
        return found


def speedup_of(kernel: KernelDeclaration, spec: CallSpec) -> float:
    """Returns how many times as fast as the reference a kernel serves a call.

    Args:
        kernel: The kernel; it supports the call.
        spec: The call.

    Returns:
        float: 1 if the kernel declares no speedup.

    Raises:
        TypeError: If the declared function does not return a number.
    """
    declared: Any = resolve(kernel.speedup)
    if declared is None:
        return 1.0
    try:
        answer: Any = declared(spec) if callable(declared) else declared
    except Exception as error:
        error.add_note(f"This came from the function 'speedup' of the kernel {kernel.key!r}.")
        raise
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        raise TypeError(
            f"'speedup' of the kernel {kernel.key!r} must give a number, how many times as fast as "
            f"the reference it is, got {answer!r}"
        )
    return float(answer)


def takes_part(kernel: KernelDeclaration, backend: Backend, policy: KernelPolicy) -> bool:
    """Returns whether ``chainer.config.accelerate`` lets a kernel serve arrays of a backend.

    Args:
        kernel: The kernel.
        backend: Backend of the arrays. The kernels of its own provider take part anyway, because
            only they know the layouts of its arrays.
        policy: The configuration.
    """
    return policy.accelerates and (kernel.speedup is not None or kernel.provider == backend.name)


def fastest(
    kernels: Iterable[KernelDeclaration], spec: CallSpec
) -> tuple[KernelDeclaration | None, float]:
    """Returns the kernel with the largest speedup, and the speedup; None if the reference is best.

    Args:
        kernels: Kernels that support the call. Of equal ones, the first is taken.
        spec: The call.
    """
    best: KernelDeclaration | None = None
    most = 1.0
    for kernel in kernels:
        ratio = speedup_of(kernel, spec)
        if ratio > most:
            best, most = kernel, ratio
    return best, most


class PlainResults:
    """A kernel whose results in plain memory are arrays of the type that ``xp`` makes.

    A kernel of oneDNN returns an array of its own type even where the memory is like NumPy's. As
    NumPy arrays, such results can be served by any provider, and programs see what they know.
    Results in blocked layouts stay as they are.

    Args:
        kernel: The kernel.
        backend: Backend of its results.
        methods: Names of its methods.
    """

    def __init__(self, kernel: Any, backend: OpaqueLayoutBackend, methods: Sequence[str]) -> None:
        self._kernel = kernel
        self._backend = backend
        for name in methods:
            setattr(self, name, _with_plain_results(getattr(kernel, name), backend))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._kernel, name)
        # A method that the operation does not demand, such as two gradients in one pass.
        return _with_plain_results(value, self._backend) if inspect.ismethod(value) else value


def _with_plain_results(
    method: Callable[..., Any], backend: OpaqueLayoutBackend
) -> Callable[..., Any]:
    convert = backend.xp_if_plain

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        if result.__class__ is numpy.ndarray:
            return result
        if result.__class__ is tuple:
            # Deeper parts are what a kernel saves for its gradient, and only the kernel reads.
            return tuple([_plain(part, backend) for part in result])
        return convert(result) if find_backend(result.__class__) is backend else result

    return wrapper


def _plain(value: Any, backend: OpaqueLayoutBackend) -> Any:
    return backend.xp_if_plain(value) if find_backend(value.__class__) is backend else value


def _opaque_backend(kernel: KernelDeclaration) -> OpaqueLayoutBackend | None:
    """Returns the backend of a kernel's provider if its arrays have layouts of their own."""
    entry = registries.backends.find(kernel.provider)
    backend = None if entry is None else entry.load()
    is_opaque = isinstance(backend, OpaqueLayoutBackend) and not backend.makes_xp_arrays
    return backend if is_opaque else None


def makes_opaque_arrays(kernel: KernelDeclaration) -> bool:
    """Returns whether the provider of a kernel has arrays in layouts of its own.

    Args:
        kernel: The kernel.
    """
    return _opaque_backend(kernel) is not None


def with_plain_results(
    factory: Callable[[Backend], Any], kernel: KernelDeclaration, methods: Sequence[str]
) -> Callable[[Backend], Any]:
    """Returns a factory of a kernel whose results in plain memory are of the type of ``xp``.

    Args:
        factory: The factory that the declaration names.
        kernel: The declaration. If its provider has no layouts of its own, the factory is
            returned as it is.
        methods: Names of the methods of the operation.
    """
    backend = _opaque_backend(kernel)
    if backend is None:
        return factory
    return lambda of: PlainResults(factory(of), backend, methods)


class Participant(NamedTuple):
    """A provider that takes part in ``chainer.config.accelerate``.

    Attributes:
        provider: Its name.
        operations: Names of the operations whose calls it makes faster.
        reason: Why it does not work on this machine; None if it does.
        most: The largest speedup that it declares as a number; None if functions alone know it.
    """

    provider: str
    operations: tuple[str, ...]
    reason: str | None
    most: float | None = None

    def __str__(self) -> str:
        if self.reason is not None:
            return f"{self.provider} (not available: {self.reason})"
        plural = "" if len(self.operations) == 1 else "s"
        gain = "" if self.most is None else f", up to {self.most:.3g} times as fast"
        return f"{self.provider} ({len(self.operations)} operation{plural}{gain})"


def participants() -> list[Participant]:
    """Returns the providers of all installed plugins that take part, by name."""
    registries.kernels.load_all()
    kernels: list[KernelDeclaration] = [
        registries.kernels.get(name) for name in registries.kernels.names()
    ]
    found: dict[str, list[KernelDeclaration]] = {}
    for kernel in kernels:
        if kernel.speedup is not None:
            found.setdefault(kernel.provider, []).append(kernel)
    result: list[Participant] = []
    for name, own in sorted(found.items()):
        reasons: list[str | None] = [resolve(kernel.unavailable)() for kernel in own]
        operations = tuple(sorted({kernel.operation for kernel in own}))
        reason = next(filter(None, reasons), None)
        most = None if reason is not None else max(map(_largest, own))
        result.append(Participant(name, operations, reason, most or None))
    return result


def _largest(kernel: KernelDeclaration) -> float:
    """Returns the largest speedup that a kernel declares; 0 if only a function knows it."""
    declared: Any = resolve(kernel.speedup)
    if isinstance(declared, SpeedupBySize):
        return declared.steps[-1][1]
    return float(declared) if isinstance(declared, (int, float)) else 0.0


def advice(policy: KernelPolicy) -> str:
    """Returns a sentence about the switch: who takes part, or who would.

    Args:
        policy: The configuration.
    """
    all_of_them = participants()
    working = [str(each) for each in all_of_them if each.reason is None]
    missing = [str(each) for each in all_of_them if each.reason is not None]
    if policy.accelerates:
        text = "on; faster kernels come from " + (", ".join(working) or "no installed provider")
    elif working:
        text = f"off; {SETTING} or CHAINER_ACCELERATE=auto would use {', '.join(working)}"
    else:
        text = "off; no installed provider takes part"
    return text + (f"; {', '.join(missing)}" if missing else "")


def backend_for_plain(backend: Backend) -> Backend | None:
    """Returns the backend of the arrays that ``xp`` makes, if that is another one.

    Args:
        backend: Any backend.
    """
    if isinstance(backend, OpaqueLayoutBackend) and backend.xp_backend is not backend:
        return backend.xp_backend
    return None
