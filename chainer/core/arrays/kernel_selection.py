"""Which of several kernels serves a call, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from chainer.core.arrays.acceleration import SETTING, fastest, speedup_of, takes_part
from chainer.core.arrays.kernel_declaration import ArraySpec, CallSpec, KernelDeclaration
from chainer.core.arrays.protocol import Backend
from chainer.core.config.kernel_policy import KernelPolicy
from chainer.core.lazy import resolve
from chainer.core.typing import Array

#: Number of calls whose choice a selector remembers. Programs with variable sequence lengths make
#: new signatures all the time; without a limit the memory they take would grow for ever.
_MAX_REMEMBERED = 4096


class Candidate(NamedTuple):
    """A kernel considered for a call.

    Attributes:
        provider: Name of its provider; ``'reference'`` for the reference kernel.
        priority: Its priority.
        reason: Why it was not chosen; None if it was.
        kernel: Its declaration; None for the reference kernel.

    Example:
        >>> explanation = chainer.explain("softmax", np.zeros((2, 3), np.float32), axis=1)
        >>> [c.provider for c in explanation if c.chosen]
        ['reference']
    """

    provider: str
    priority: int
    reason: str | None
    kernel: KernelDeclaration | None

    @property
    def chosen(self) -> bool:
        """Whether this kernel serves the call."""
        return self.reason is None


@dataclass(frozen=True)
class Explanation:
    """Which kernel serves a call and why the others do not. Print it.

    Attributes:
        operation: Name of the operation.
        array_type: Class of the first array of the call.
        candidates: All kernels considered, highest priority first; the reference kernel is last.
        notes: What enabled plugins have replaced, and what the backend and the chosen kernel
            cannot do; a line each.

    Example:
        >>> explanation = chainer.explain("softmax", np.zeros((2, 3), np.float32), axis=1)
        >>> explanation.operation, explanation.chosen.provider
        ('softmax', 'reference')
    """

    operation: str
    array_type: type
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()

    @property
    def chosen(self) -> Candidate:
        """The kernel that serves the call."""
        return next(c for c in self.candidates if c.chosen)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __repr__(self) -> str:
        # As it is printed: the last line of a cell is to be read, too.
        return str(self)

    def __str__(self) -> str:
        name = f"{self.array_type.__module__}.{self.array_type.__qualname__}"
        lines = [f"{self.operation} on {name} is served by {self.chosen.provider!r}"]
        for candidate in self.candidates:
            mark, text = ("*", "chosen") if candidate.chosen else (" ", candidate.reason)
            lines.append(f"  {mark} {candidate.provider} (priority {candidate.priority}): {text}")
        return "\n".join([*lines, *(f"    {note}" for note in self.notes)])


def by_preference(
    kernels: Sequence[KernelDeclaration], policy: KernelPolicy
) -> list[KernelDeclaration]:
    """Sorts kernels: the user's preferred providers come first, other kernels keep their order.

    Args:
        kernels: The kernels, highest priority first.
        policy: The configuration.
    """
    preferred = {name: i for i, name in enumerate(policy.kernels)}
    return sorted(kernels, key=lambda k: preferred.get(k.provider, len(preferred)))


def disabled_reason(
    kernel: KernelDeclaration, backend: Backend, policy: KernelPolicy
) -> str | None:
    """Returns why the configuration or the machine excludes a kernel; None if it does not.

    Args:
        kernel: The kernel.
        backend: Backend of the arrays.
        policy: The configuration.

    Raises:
        RuntimeError: If the configuration demands a provider that does not work on this machine.
    """
    setting = policy.setting(kernel.provider)
    switch = policy.switch_of(kernel.provider)
    # If a provider has no configuration entry, its kernels are enabled only if it is the provider
    # of the backend itself. Other providers must be named in the configuration: installing a
    # package must not change results.
    if kernel.unconditional or (
        switch is None and setting == "never" and kernel.provider == backend.name
    ):
        setting = "auto"
    if setting == "never" and takes_part(kernel, backend, policy):
        setting = "auto"
    if setting == "never":
        if switch is None:
            return f"not enabled; name {kernel.provider!r} in chainer.config.kernels to enable it"
        return f"chainer.config.{switch} is 'never'"
    reason = resolve(kernel.unavailable)()
    if reason is not None and setting == "always":
        raise RuntimeError(
            f"the configuration demands provider {kernel.provider!r}, which is not available: "
            f"{reason}"
        )
    return reason


def is_asked_for(kernel: KernelDeclaration, backend: Backend, policy: KernelPolicy) -> bool:
    """Returns whether an enabled kernel comes before the reference whatever its speedup.

    Args:
        kernel: A kernel that is enabled.
        backend: Backend of the arrays.
        policy: The configuration. Providers that it names, and the provider of the backend itself,
            are asked for; others take part by ``chainer.config.accelerate``.
    """
    return (
        kernel.unconditional
        or kernel.provider == backend.name
        or policy.setting(kernel.provider) != "never"
    )


def rejection_reason(kernel: KernelDeclaration, spec: CallSpec) -> str | None:
    """Returns why a kernel does not support a call; None if it does.

    Args:
        kernel: The kernel.
        spec: The call.

    Raises:
        TypeError: If the function ``supports`` of the kernel returns nothing.
    """
    try:
        answer: Any = resolve(kernel.supports)(spec)
    except Exception as error:
        error.add_note(f"This came from the function 'supports' of the kernel {kernel.key!r}.")
        raise
    if isinstance(answer, str):
        return answer
    if answer is None or answer is NotImplemented:
        raise TypeError(
            f"the function 'supports' of the kernel {kernel.key!r} must return True, False or the "
            f"reason why it does not support the call (a str), got {answer!r}"
        )
    return None if answer else "does not support this call"


def supported(kernels: Sequence[KernelDeclaration], spec: CallSpec) -> list[KernelDeclaration]:
    """Returns the kernels that support a call.

    Args:
        kernels: The kernels.
        spec: The call.
    """
    return [kernel for kernel in kernels if rejection_reason(kernel, spec) is None]


def candidates_by_preference(
    kernels: Sequence[tuple[KernelDeclaration, Backend]], spec: CallSpec, policy: KernelPolicy
) -> list[Candidate]:
    """Returns the kernels and the reference, with the reasons why they do not serve a call.

    Args:
        kernels: Pairs of a kernel and the backend of the arrays that it takes, in the order in
            which they are asked.
        spec: The call.
        policy: The configuration.
    """
    reasons: dict[str, str | None] = {}
    by_speedup: list[KernelDeclaration] = []
    chosen: KernelDeclaration | None = None
    for kernel, backend in kernels:
        reason = disabled_reason(kernel, backend, policy) or rejection_reason(kernel, spec)
        if reason is None and not is_asked_for(kernel, backend, policy):
            by_speedup.append(kernel)
        elif reason is None and chosen is not None:
            reason = "a kernel of higher priority serves the call"
        elif reason is None:
            chosen = kernel
        reasons[kernel.key] = reason
    best, most = fastest(by_speedup, spec) if chosen is None else (None, 1.0)
    for kernel in by_speedup:
        if chosen is not None:
            reasons[kernel.key] = f"{chosen.provider!r} comes first, and serves the call"
        elif speedup_of(kernel, spec) <= 1:
            reasons[kernel.key] = "the reference is as fast here, as its provider measured"
        elif kernel is not best:
            reasons[kernel.key] = (
                f"{speedup_of(kernel, spec):.3g} times as fast as the reference, a faster kernel "
                f"{most:.3g} times"
            )
    found = [Candidate(k.provider, k.priority, reasons[k.key], k) for k, _ in kernels]
    served = any([candidate.chosen for candidate in found])
    reason = "an accelerated kernel serves the call" if served else None
    return [*found, Candidate("reference", -1, reason, None)]


def speedup_notes(
    candidates: Sequence[Candidate],
    backends: Sequence[tuple[KernelDeclaration, Backend]],
    spec: CallSpec,
    policy: KernelPolicy,
) -> list[str]:
    """Returns a line on what ``chainer.config.accelerate`` gains for a call, or would gain.

    Args:
        candidates: The kernels considered.
        backends: The kernels with the backend of the arrays that they take.
        spec: The call.
        policy: The configuration.
    """
    serving = next(candidate.kernel for candidate in candidates if candidate.chosen)
    if serving is not None:
        ratio = speedup_of(serving, spec) if policy.accelerates else 1.0
        text = f"kernel of {serving.provider!r}: {ratio:.3g} times as fast as the reference"
        return [f"{text}, as its provider measured"] if ratio > 1 else []
    if policy.accelerates:
        return []
    declared = [k for k, _ in backends if k.speedup is not None and not resolve(k.unavailable)()]
    try:
        best, most = fastest(supported(declared, spec), spec)
    except Exception:
        # A provider that is off may refuse an incomplete call, which the reference takes.
        return []
    if best is None:
        return []
    text = f"{SETTING} would use {best.provider!r}: {most:.3g} times as fast as the reference"
    return [f"{text}, as its provider measured"]


class KernelSelector:
    """Chooses among several kernels by the signature of the call, and remembers the choice.

    Args:
        kernels: The kernels that are enabled, in the order in which they are asked.
        by_speedup: Further kernels. If none of ``kernels`` supports a call, the fastest of these
            serves it, unless the reference is as fast.
        load: Function that makes the implementation of a kernel, or of the reference (None).
        deterministic: Whether the user demands deterministic kernels.
    """

    __slots__ = ("_by_speedup", "_deterministic", "_kernels", "_load", "_remembered")

    def __init__(
        self,
        kernels: Sequence[KernelDeclaration],
        by_speedup: Sequence[KernelDeclaration],
        load: Callable[[KernelDeclaration | None], Any],
        deterministic: bool,
    ) -> None:
        self._kernels = kernels
        self._by_speedup = by_speedup
        self._load = load
        self._deterministic = deterministic
        self._remembered: dict[Any, Any] = {}

    def choose(self, arrays: tuple[Array | None, ...], attributes: dict[str, Any]) -> Any:
        """Returns the implementation that serves a call.

        Args:
            arrays: The arrays of the call.
            attributes: The other arguments, hashable.
        """
        # This runs for every operation: most have no attributes, and no view of them is made then.
        # The order of an array is True (of C), "F" or False.
        parts: list[Any] = []
        for a in arrays:  # without the call that a comprehension is
            if a is None:
                parts.append(None)
            else:
                flags = a.flags
                order = flags.c_contiguous or (flags.f_contiguous and "F")
                parts.append((a.shape, a.dtype, order))
        if attributes:
            parts.extend(attributes.items())
        signature = tuple(parts)
        implementation = self._remembered.get(signature)
        if implementation is None:
            spec = CallSpec(tuple(map(ArraySpec.of, arrays)), dict(attributes), self._deterministic)
            supporting = (k for k in self._kernels if rejection_reason(k, spec) is None)
            kernel = next(supporting, None)
            if kernel is None:
                kernel = fastest(supported(self._by_speedup, spec), spec)[0]
            implementation = self._load(kernel)
            if len(self._remembered) >= _MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[signature] = implementation
        return implementation
