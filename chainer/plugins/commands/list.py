"""``chainer list``: the names of a kind, and the plugins that supply them.

With ``--json`` prints a list of objects with the keys ``name``, ``target`` (``module:attribute``,
or a description of the object) and ``origin`` (the plugin that registered it).
"""

from __future__ import annotations

import argparse
import fnmatch
import sys

from chainer.core.registry import registries
from chainer.plugins.commands._output import did_you_mean, print_json, print_table

HELP = "list functions, links, optimizers and other names, and the plugins that supply them"

#: Short names of kinds -> names of the registries.
_SHORT_NAMES = {"onnx": "onnx_converters"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("kind", choices=[*registries.ALL, *_SHORT_NAMES], help="what to list")
    parser.add_argument("pattern", nargs="?", metavar="NAME", help="only this; '*' for any text")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Lists the names."""
    kind: str = options.kind
    registry = registries.ALL[_SHORT_NAMES.get(kind, kind)]
    registry.load_all()
    entries = registry.entries()
    if options.pattern is not None:
        known = [entry.name for entry in entries]
        entries = [e for e in entries if fnmatch.fnmatchcase(e.name, options.pattern)]
        if not entries:
            hint = did_you_mean(options.pattern, known)
            print(
                f"chainer list: no {registry.singular} named {options.pattern!r}{hint}",
                file=sys.stderr,
            )
            return 2
    rows = [(entry.name, entry.text.strip("'"), entry.origin) for entry in entries]
    if options.json:
        print_json([dict(zip(("name", "target", "origin"), row, strict=True)) for row in rows])
    else:
        print_table(("name", "target", "from"), rows)
    return 0
