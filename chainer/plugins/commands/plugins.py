"""``chainer plugins``: the installed plugins, their states and what they registered.

Chainer's own plugins are among them: functions, links, backends and the rest are registered in the
same way. With ``--json`` prints a list of objects with the keys ``name`` (of the entry point),
``distribution``, ``version``, ``target`` (of the entry point), ``builtin`` (whether it is a part of
Chainer), ``location`` (metadata folder), ``state`` (loaded, blocked, incompatible or failed),
``error`` (what is wrong, or null), ``conflicts`` (names that it did not get), ``seconds`` (of
loading), ``enabled`` (whether the user enabled it), ``registered`` (kind -> names), ``replaced``
(what it replaces), ``refused`` (what it would replace if it were enabled), ``event_hooks`` and
``description``.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from chainer import plugins
from chainer.core.registry import registries
from chainer.plugins.commands._output import did_you_mean, print_json, print_table
from chainer.plugins.descriptions import describe_plugin
from chainer.plugins.known_distributions import suggestion
from chainer.plugins.records import PluginRecord

HELP = "list plugins, their states and what they register"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only these, by entry point or distribution"
    )
    parser.add_argument(
        "--others", action="store_true", help="only plugins of other distributions than Chainer"
    )
    parser.add_argument(
        "--failed",
        action="store_true",
        help="only plugins with a problem, with details; exit status 1 if there are any",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Loads every plugin and lists them."""
    # Packs are found by their metadata; only loading shows whether they work.
    for registry in registries.ALL.values():
        registry.load_all()
    known = plugins.records()
    for name in options.names:
        if not any(record.matches(name) for record in known):
            hint = did_you_mean(name, {n for r in known for n in (r.name, r.distribution)})
            if available := suggestion("plugins", name):
                hint = f"; {available}"
            print(f"chainer plugins: no plugin named {name!r} is installed{hint}", file=sys.stderr)
            return 2
    records = [record for record in known if _wanted(record, options)]
    if options.json:
        print_json([as_dict(record) for record in records])
    elif not records:
        print(
            "no plugins with problems"
            if options.failed
            else "no plugins of other distributions are installed"
        )
    else:
        print_plugins(records)
        if options.failed:
            for record in records:
                print(f"\n{record.provenance} -> {record.target}\n  {record.problem}")
    return 1 if options.failed and records else 0


def _wanted(record: PluginRecord, options: argparse.Namespace) -> bool:
    if options.names and not any(map(record.matches, options.names)):
        return False
    if options.failed:
        return record.state in ("failed", "incompatible") or bool(record.conflicts)
    return not (options.others and record.builtin)


def as_dict(record: PluginRecord) -> dict[str, Any]:
    """Returns a plugin as an object for JSON, here and in ``chainer info``.

    Args:
        record: The plugin.
    """
    return {**record.as_dict(), "description": describe_plugin(record)}


def print_plugins(records: list[PluginRecord]) -> None:
    """Prints a table of plugins, here and in ``chainer info``.

    Args:
        records: The plugins.
    """
    rows = [
        (r.name, r.distribution, r.version, r.state, _milliseconds(r), _note(r)) for r in records
    ]
    print_table(("name", "distribution", "version", "state", "ms", "description"), rows)


def _milliseconds(record: PluginRecord) -> str:
    return "" if record.seconds is None else f"{record.seconds * 1e3:.0f}"


def _note(record: PluginRecord) -> str:
    if record.problem:
        # A table has one line for each plugin; --failed shows the whole text.
        return record.problem.partition("\n")[0]
    return "; ".join(filter(None, [describe_plugin(record), *record.remarks()]))
