"""The configuration entries that decide which kernel serves a call, as one object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.core.config.entries import declared


class KernelPolicy:
    """The values of the configuration entries about kernels.

    Equal settings always give the same object (:func:`current_policy`), so that an operation can
    use it as a key of a dictionary without comparing values.

    Attributes:
        values: The values by the name of the entry.
        kernels: Names of the kernel providers that the user prefers, most preferred first.
        deterministic: Whether kernels must be deterministic.
        accelerates: Whether kernels take part by the speedups that they declare.
    """

    __slots__ = ("_switches", "accelerates", "deterministic", "kernels", "values")

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.kernels: tuple[str, ...] = values["kernels"]
        self.accelerates = values["accelerate"] == "auto"
        self._switches: dict[str, str] = {}
        self.deterministic = False
        for name, value in values.items():
            entry = declared[name]
            if entry.switches:
                self._switches[entry.switches] = name
            if entry.deterministic and value:
                self.deterministic = True

    def switch_of(self, provider: str) -> str | None:
        """Returns the name of the entry that turns a provider on or off; None without an entry.

        Args:
            provider: Name of the provider.
        """
        return self._switches.get(provider)

    def setting(self, provider: str) -> str:
        """Returns the setting of a provider: ``'always'``, ``'auto'`` or ``'never'``.

        A provider that has no entry is on only if ``config.kernels`` names it.

        Args:
            provider: Name of the provider.
        """
        switch = self._switches.get(provider)
        if switch is not None:
            return self.values[switch]
        return "always" if provider in self.kernels else "never"

    def forbids(self, backend: str) -> bool:
        """Returns whether the kernel provider of the same name as a backend is switched off.

        ``chainer.config.accelerate`` enables the providers of all backends.

        Args:
            backend: Name of the backend.
        """
        switch = self._switches.get(backend)
        return switch is not None and not self.accelerates and self.values[switch] == "never"

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"KernelPolicy({fields})"


#: One policy for all equal settings. It is never emptied: a process has few different settings.
_policies: dict[tuple[tuple[str, Any], ...], KernelPolicy] = {}


def current_policy(get: Callable[[str, Any], Any]) -> KernelPolicy:
    """Returns the policy for the present values of the entries.

    Args:
        get: Function that returns the value of an entry, given its name and its default.
    """
    values = {e.name: get(e.name, e.default) for e in declared.values() if e.selects_kernels}
    kernels = values["kernels"]
    # Programs set a single name or a list. As a tuple it can be part of a key.
    values["kernels"] = (kernels,) if isinstance(kernels, str) else tuple(kernels)
    key = tuple(values.items())
    policy = _policies.get(key)
    if policy is None:
        # setdefault: another thread may have added the same policy meanwhile.
        policy = _policies.setdefault(key, KernelPolicy(values))
    return policy
