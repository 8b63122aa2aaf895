"""The parts of a name that is certified: backends, kernel providers, functions, a package."""

from __future__ import annotations

import difflib
import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy

from chainer import plugins
from chainer.core.arrays.backend import get_device
from chainer.core.arrays.kernel_declaration import KernelDeclaration
from chainer.core.arrays.lookup import is_array_type
from chainer.core.registry import registries
from chainer.plugins.kernel_settings import setting
from chainer.plugins.records import PluginRecord

#: Module of a package that has the rows of its functions.
SPECS = "specs"


class UnknownSubjectError(LookupError):
    """No backend, kernel provider or plugin has the name, or it cannot be tested here."""


@dataclass(frozen=True)
class Part:
    """A part of a subject: one run of tests.

    Attributes:
        title: The part in reports.
        kind: ``'backend'``, ``'kernels'``, ``'functions'`` or ``'package'``.
        name: Name of the device, the provider, the table of rows or the plugin.
        device: Device to test on; empty for a package.
        prefers: Whether a backend is tested with its own kernels preferred, as they are off by
            default.
    """

    title: str
    kind: str
    name: str
    device: str = ""
    prefers: bool = False


def parts_of(name: str, specs: str | None = None, device: str | None = None) -> list[Part]:
    """Returns the parts of a subject.

    Args:
        name: Name of a backend (``'strict'``, ``'@strict:1'``), of a kernel provider, or of a
            plugin: its entry point, its distribution or its module.
        specs: Table of rows of the package, as ``'module:attribute'``. By default it is ``SPECS``
            in the module ``specs`` of the package.
        device: Device for kernels and functions; by default the one that the kernels are for, and
            the host for functions.

    Raises:
        UnknownSubjectError: If there is nothing of this name, or nothing to test.
    """
    for registry in registries.ALL.values():
        registry.load_all()
    providers = {kernel.provider for kernel in _kernels()}
    bare = name.removeprefix("@").partition(":")[0]
    if bare in registries.backends:
        found = _of_backend(name.removeprefix("@"))
    elif name in providers:
        found = _of_provider(name, device)
    else:
        found = _of_plugins(name, specs, device, providers)
    if not found:
        raise UnknownSubjectError(f"{name!r} supplies nothing that can be tested here")
    return found


def _of_plugins(
    name: str, specs: str | None, device: str | None, providers: set[str]
) -> list[Part]:
    records = [r for r in plugins.records() if r.matches(name) or _is_module(name, r)]
    if not records:
        everything = {*registries.backends.names(), *providers}
        everything.update(record.distribution or record.name for record in plugins.records())
        near = difflib.get_close_matches(name, everything, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`chainer plugins` lists the plugins"
        raise UnknownSubjectError(
            f"no backend, kernel provider or plugin is named {name!r}; {hint}"
        )
    found: list[Part] = []
    for record in records:
        if not record.builtin:
            found.append(
                Part(f"package {record.distribution or record.name}", "package", record.name)
            )
        found += _registered(record, specs, device)
    return found


def _registered(record: PluginRecord, specs: str | None, device: str | None) -> list[Part]:
    found: list[Part] = []
    own = {registry.kind: [] for registry, _ in record.entries}
    for registry, entry in record.entries:
        own[registry.kind].append(entry.name)
    for backend in own.get("backends", ()):
        if registries.backends.get(backend).unavailable_reason() is None:
            found += _of_backend(backend)
    kernels = [registries.kernels.get(key) for key in own.get("kernels", ())]
    # The kernels of a backend of its own are tested together with the backend.
    for provider in dict.fromkeys(kernel.provider for kernel in kernels):
        if provider not in own.get("backends", ()):
            found += _of_provider(provider, device)
    table = specs or table_of(record)
    if table is not None and (specs is not None or "functions" in own):
        place = device or "numpy"
        found.append(Part(f"functions of {record.name} on {place}", "functions", table, place))
    return found


def functions_of(name: str) -> list[str]:
    """Returns the names of the functions that a plugin registers, without the nodes.

    Args:
        name: Name of the plugin.
    """
    record = next(record for record in plugins.records() if record.name == name)
    names = [e.name for registry, e in record.entries if registry.kind == "functions"]
    return [function for function in names if not function[0].isupper()]


def table_of(record: PluginRecord) -> str | None:
    """Returns the table of rows of a plugin, as ``'module:attribute'``; None if it has none."""
    package = record.target.partition(":")[0].partition(".")[0]
    try:
        spec = importlib.util.find_spec(f"{package}.{SPECS}")
    except (ImportError, ValueError):
        return None
    return None if spec is None else f"{package}.{SPECS}:SPECS"


def _of_backend(name: str) -> list[Part]:
    """Returns the backend, and the kernels that it has for arrays of other backends."""
    try:
        place = get_device("@" + name)
    except (ValueError, RuntimeError) as error:
        raise UnknownSubjectError(str(error)) from error
    bare = name.partition(":")[0]
    own = [kernel for kernel in _kernels() if kernel.provider == bare]
    prefers = any(setting(kernel) != "on" for kernel in own)
    others = [one for one in _backends_for(own) if one != bare]
    return [
        Part(f"backend {name}", "backend", name, str(place), prefers),
        *[Part(f"kernels of {bare} on {one}", "kernels", bare, one) for one in others],
    ]


def keys_of(part: Part) -> set[str]:
    """Returns the keys of the kernels that the tests of a part should reach.

    Args:
        part: A backend, or kernels.
    """
    array_type = type(get_device(f"@{part.device.removeprefix('@')}").send(numpy.zeros(1, "f")))
    provider = part.name.partition(":")[0]
    own = [kernel for kernel in _kernels() if kernel.provider == provider]
    return {kernel.key for kernel in own if is_array_type(kernel.array_type, array_type)}


def _of_provider(provider: str, device: str | None) -> list[Part]:
    own = [kernel for kernel in _kernels() if kernel.provider == provider]
    places = [device] if device else _backends_for(own)
    return [
        Part(f"kernels of {provider} on {place}", "kernels", provider, place) for place in places
    ]


def _backends_for(kernels: list[KernelDeclaration]) -> list[str]:
    """Returns the names of the available backends that the kernels are for."""
    found: list[str] = []
    for name in registries.backends.names():
        backend: Any = registries.backends.get(name)
        if backend.unavailable_reason() is not None:
            continue
        types = [kind for kind in backend.array_types if isinstance(kind, type)]
        if any(is_array_type(kernel.array_type, cls) for kernel in kernels for cls in types) or any(
            kernel.array_type in backend.array_types for kernel in kernels
        ):
            found.append(name)
    return found


def _kernels() -> list[KernelDeclaration]:
    return [registries.kernels.get(name) for name in registries.kernels.names()]


def _is_module(name: str, record: PluginRecord) -> bool:
    module = record.target.partition(":")[0]
    return not record.builtin and name in (module, module.partition(".")[0])
