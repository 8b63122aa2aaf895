"""``chainer kernels``: which implementations of which operations there are."""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

from chainer.core import registries
from chainer.core.configuration import threads
from chainer.core.kernel import Kernel, load_object
from chainer.core.registry import UnknownNameError
from chainer.plugins.commands._output import print_json, print_table

HELP = "list operations and the kernels that implement them"


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
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Lists the kernels."""
    registries.operations.load_all()
    if options.operation is None:
        operations = registries.operations.names()
    else:
        try:
            operations = [registries.operations.entry(options.operation).name]
        except UnknownNameError as error:
            print(f"chainer kernels: {error}", file=sys.stderr)
            return 2
    rows = [row for operation in operations for row in _rows(operation)]
    if options.json:
        print_json([row._asdict() for row in rows])
    else:
        header = ("operation", "provider", "array type", "priority", "setting", "available", "from")
        print_table(header, [["" if v is None else str(v) for v in row] for row in rows])
    return 0


def _rows(operation: str) -> list[_Row]:
    rows: list[_Row] = []
    for entry in registries.kernels.entries():
        kernel: Kernel = entry.load()
        if kernel.operation == operation:
            reason = load_object(kernel.unavailable)()
            rows.append(
                _Row(
                    operation,
                    kernel.provider,
                    entry.name.rpartition("/")[2],
                    kernel.priority,
                    _setting(kernel),
                    "yes" if reason is None else f"no: {reason}",
                    entry.origin,
                )
            )
    rows.sort(key=lambda row: (-(row.priority or 0), row.provider))
    origin = registries.operations.entry(operation).origin
    return [*rows, _Row(operation, "reference", "any", None, "fallback", "yes", origin)]


def _setting(kernel: Kernel) -> str:
    """Returns what the configuration says: on, always, auto or never."""
    provider = kernel.provider
    switched = provider in ("cudnn", "ideep")  # by configuration entries of their own
    if kernel.unconditional or (not switched and provider in registries.backends.names()):
        return "on"
    return threads.state.policy.setting(provider)
