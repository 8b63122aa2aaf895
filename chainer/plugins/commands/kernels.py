"""``chainer kernels``: operations, their kernels, and which kernel serves a call.

Without ``--shape`` lists kernels; with ``--json`` as objects with the keys ``operation``,
``provider``, ``array_type`` (``module:Class``), ``priority`` (null for the reference), ``setting``
(on, always, auto, never, fallback), ``available`` (yes, or no with the reason) and ``origin``.

With an operation and shapes, shows which kernel serves a call with such arrays and why the others
do not; with ``--json`` as an object with the keys ``operation``, ``array_type``, ``chosen`` (the
provider) and ``candidates``: objects with the keys ``provider``, ``priority``, ``chosen`` and
``reason`` (null for the chosen one).
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

from chainer.core.arrays.kernel import KernelDeclaration
from chainer.core.lazy import resolve
from chainer.core.registry import registries
from chainer.core.registry.registry import UnknownNameError
from chainer.plugins.commands import _kernel_call
from chainer.plugins.commands._output import print_json, print_table
from chainer.plugins.kernel_settings import loaded_kernels, setting

HELP = "list operations and their kernels, or show which kernel serves a call"


class _Row(NamedTuple):
    operation: str
    provider: str
    array_type: str
    priority: int | None
    setting: str
    available: str
    origin: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("operation", nargs="?", metavar="OPERATION", help="only this operation")
    _kernel_call.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Lists the kernels, or explains a call."""
    registries.operations.load_all()
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
            return 2
        if options.shape:
            return _kernel_call.run(options)
    kernels = loaded_kernels()
    rows = [row for operation in operations for row in _rows(operation, kernels)]
    if options.json:
        print_json([row._asdict() for row in rows])
    else:
        header = ("operation", "provider", "array type", "priority", "setting", "from", "available")
        print_table(header, [_cells(row) for row in rows])
    return 0


def _cells(row: _Row) -> list[str]:
    *first, available, origin = ("" if value is None else str(value) for value in row)
    return [*first, origin, available]


def _rows(operation: str, kernels: list[KernelDeclaration]) -> list[_Row]:
    rows: list[_Row] = []
    for kernel in kernels:
        if kernel.operation == operation:
            # Asked here, not at import: it may import a large library such as CuPy.
            reason = resolve(kernel.unavailable)()
            rows.append(
                _Row(
                    operation,
                    kernel.provider,
                    kernel.key.rpartition("/")[2],
                    kernel.priority,
                    setting(kernel),
                    "yes" if reason is None else f"no: {reason}",
                    registries.kernels.entry(kernel.key).origin,
                )
            )
    # In the order in which they are asked.
    rows.sort(key=lambda row: (-(row.priority or 0), row.provider))
    origin = registries.operations.entry(operation).origin
    return [*rows, _Row(operation, "reference", "any", None, "fallback", "yes", origin)]
