"""``chainer backends``: the array types, and why one does not work.

With ``--json`` prints a list of objects with the keys ``name``, ``array_types`` (``module:Class``),
``family`` (backends of one family may be mixed) and ``is_accelerator`` (both null if the module of
the backend cannot be imported), ``available``, ``reason`` (why it is not available, or null),
``version``, ``devices`` (specifiers), ``kernels`` (provider -> number of its kernels for these
arrays), ``limitations`` (capability that the arrays lack -> the reason, see
``chainer.backend.CAPABILITIES``) and ``origin`` (the plugin that registered it).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

from chainer.core.arrays.backend_status import backend_status
from chainer.core.registry import registries
from chainer.core.registry.registry import Entry, UnknownNameError
from chainer.core.registry.requirements import describe_error
from chainer.plugins.commands._output import print_json, print_table
from chainer.plugins.kernel_settings import array_type_name, is_for, loaded_kernels

HELP = "list array backends, their devices and kernels, and why one is unavailable"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="only this backend")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Lists the backends."""
    registries.backends.load_all()
    names = registries.backends.names()
    if options.name is not None:
        # As in device specifiers, which write a backend with "@".
        name = options.name.removeprefix("@")
        if name not in names:
            try:
                registries.backends.entry(name)
            except UnknownNameError as error:
                print(f"chainer backends: {error}", file=sys.stderr)
            # Status 2, as argparse has for wrong arguments; 1 means that problems were found.
            return 2
        names = [name]
    found = [_describe(name) for name in names]
    if options.json:
        print_json(found)
    else:
        header = ("name", "arrays", "version", "available", "devices", "kernels")
        print_table(header, [_row(entry) for entry in found])
    return 0


def _describe(name: str) -> dict[str, Any]:
    status = backend_status(name)
    backend = status.backend
    if backend is None:
        return _broken(status.entry, status.reason or "")
    try:
        kernels = Counter(kernel.provider for kernel in loaded_kernels() if is_for(kernel, backend))
        return {
            "name": name,
            "array_types": [array_type_name(array_type) for array_type in backend.array_types],
            "family": backend.family,
            "is_accelerator": backend.is_accelerator,
            "available": status.reason is None,
            "reason": status.reason,
            "version": status.version,
            "devices": status.devices,
            "kernels": dict(sorted(kernels.items())),
            "limitations": dict(backend.limitations),
            "origin": status.entry.origin,
        }
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # attributes of a plugin may be properties that fail
        text = f"error in the code of {status.entry.origin}: {describe_error(error)}"
        return _broken(status.entry, text)


def _broken(entry: Entry, reason: str) -> dict[str, Any]:
    return {
        "name": entry.name,
        "array_types": [],
        "family": None,
        "is_accelerator": None,
        "available": False,
        "reason": reason,
        "version": None,
        "devices": [],
        "kernels": {},
        "limitations": {},
        "origin": entry.origin,
    }


def _row(entry: dict[str, Any]) -> list[str]:
    kernels = ", ".join(f"{count} of {provider}" for provider, count in entry["kernels"].items())
    return [
        entry["name"],
        ", ".join(entry["array_types"]),
        entry["version"] or "",
        "yes" if entry["available"] else "no",
        " ".join(entry["devices"]),
        _abilities(entry, kernels) if entry["available"] else entry["reason"],
    ]


def _abilities(entry: dict[str, Any], kernels: str) -> str:
    missing = ", ".join(entry["limitations"])
    return f"{kernels or 'reference'}; no {missing}" if missing else kernels or "reference"
