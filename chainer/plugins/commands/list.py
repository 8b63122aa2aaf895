"""``chainer list``: the names of a kind, and the plugins that supply them.

With ``--json`` prints a list of objects with the keys ``name``, ``target`` (``module:attribute``,
or a description of the object), ``origin`` (the plugin that registered it) and ``description`` (the
first sentence of the docstring). Nothing that is listed is imported.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys

from chainer.core.registry import registries
from chainer.core.registry.entry import Entry
from chainer.core.registry.registry import Registry, UnknownNameError
from chainer.plugins.commands._output import distribution_of, print_json, print_table
from chainer.plugins.descriptions import describe

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
        entries = [e for e in entries if fnmatch.fnmatchcase(e.name, options.pattern)]
        if not entries:
            print(f"chainer list: {_why_missing(registry, options.pattern)}", file=sys.stderr)
            return 2
    if options.json:
        print_json([_as_dict(entry) for entry in entries])
    else:
        rows = [(entry.name, distribution_of(entry), describe(entry)) for entry in entries]
        print_table(("name", "from", "description"), rows)
    return 0


def _why_missing(registry: Registry, name: str) -> str:
    try:
        registry.entry(name)
    except UnknownNameError as error:
        return str(error)
    return f"no {registry.singular} named {name!r}"


def _as_dict(entry: Entry) -> dict[str, str]:
    return {
        "name": entry.name,
        "target": entry.text.strip("'"),
        "origin": entry.origin,
        "description": describe(entry),
    }
