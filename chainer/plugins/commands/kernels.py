"""``chainer kernels``: operations, their kernels, and which kernel serves a call.

Without ``--shape`` lists kernels; with ``--json`` as objects with the keys ``operation``,
``provider``, ``array_type`` (``module:Class``), ``priority`` (null for the reference), ``setting``
(on, always, auto, never, fallback), ``available`` (yes, or no with the reason), ``origin`` and
``description`` (of the operation).

With an operation and shapes, shows which kernel serves a call with such arrays and why the others
do not; with ``--json`` as an object with the keys ``operation``, ``array_type``, ``chosen`` (the
provider) and ``candidates``: objects with the keys ``provider``, ``priority``, ``chosen`` and
``reason`` (null for the chosen one).
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from typing import NamedTuple

from chainer.core.arrays.backend_status import backend_status
from chainer.core.arrays.kernel import KernelDeclaration
from chainer.core.registry import registries
from chainer.core.registry.registry import UnknownNameError
from chainer.plugins.commands import _kernel_call
from chainer.plugins.commands._output import print_indented, print_json, print_table
from chainer.plugins.descriptions import describe
from chainer.plugins.kernel_settings import (
    array_type_name,
    code_problem,
    library_problem,
    loaded_kernels,
    setting,
)

HELP = "list operations and their kernels, or show which kernel serves a call"


class _Row(NamedTuple):
    operation: str
    provider: str
    array_type: str
    priority: int | None
    setting: str
    available: str
    origin: str
    description: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("operation", nargs="?", metavar="OPERATION", help="only this operation")
    _kernel_call.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Lists the kernels, or explains a call."""
    registries.operations.load_all()
    registries.backends.load_all()
    _unavailable_arrays.cache_clear()  # a program may call this twice
    if options.operation is None:
        if options.shape:
            print("chainer kernels: --shape needs an operation", file=sys.stderr)
            return 2
        operations = registries.operations.names()
    else:
        try:
            operations = [registries.operations.entry(options.operation).name]
        except UnknownNameError as error:
            print(f"chainer kernels: {error}", file=sys.stderr)
            print("chainer kernels without a name lists all operations", file=sys.stderr)
            return 2
        if options.shape:
            return _kernel_call.run(options)
    kernels = loaded_kernels()
    rows = [row for operation in operations for row in _rows(operation, kernels)]
    if options.json:
        print_json([row._asdict() for row in rows])
    else:
        _print(rows)
    return 0


def _print(rows: list[_Row]) -> None:
    # Reasons are long, and the same for all kernels of a library: numbers refer to them.
    reasons = dict.fromkeys(row.available for row in rows if row.available != "yes")
    numbers = {reason: f"no ({i})" for i, reason in enumerate(reasons, 1)}
    header = ("operation", "provider", "array type", "priority", "setting", "available", "from")
    cells = [
        (
            row.operation,
            row.provider,
            row.array_type,
            "" if row.priority is None else str(row.priority),
            row.setting,
            numbers.get(row.available, row.available),
            row.origin.rpartition(" of ")[2],
            row.description,
        )
        for row in rows
    ]
    print_table((*header, "description"), cells)
    if reasons:
        print("\nnot available here:")
    for i, reason in enumerate(reasons, 1):
        print_indented(reason.removeprefix("no: "), f"({i}) ", "    ")


def _rows(operation: str, kernels: list[KernelDeclaration]) -> list[_Row]:
    rows: list[_Row] = []
    entry = registries.operations.entry(operation)
    description = describe(entry)
    for kernel in kernels:
        if kernel.operation == operation:
            reason = _unavailable_reason(kernel)
            rows.append(
                _Row(
                    operation,
                    kernel.provider,
                    kernel.key.rpartition("/")[2],
                    kernel.priority,
                    setting(kernel),
                    "yes" if reason is None else f"no: {reason}",
                    registries.kernels.entry(kernel.key).origin,
                    description,
                )
            )
    # In the order in which they are asked.
    rows.sort(key=lambda row: (-(row.priority or 0), row.provider))
    reference = _Row(
        operation, "reference", "any", None, "fallback", "yes", entry.origin, description
    )
    return [*rows, reference]


def _unavailable_reason(kernel: KernelDeclaration) -> str | None:
    """Returns why a kernel cannot serve a call on this machine; None if it can."""
    # Without the library of the arrays there are no arrays that the kernel could be called with.
    return (
        _unavailable_arrays(array_type_name(kernel.array_type))
        or library_problem(kernel)
        or code_problem(kernel)
    )


@cache
def _unavailable_arrays(array_type: str) -> str | None:
    found: list[str] = []
    for name in registries.backends.names():
        status = backend_status(name)
        backend = status.backend
        if backend is None or array_type not in map(array_type_name, backend.array_types):
            continue
        if status.reason is None:
            return None
        found.append(status.reason)
    return found[0] if found else f"no installed backend has arrays of the type {array_type}"
