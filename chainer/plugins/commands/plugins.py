"""``chainer plugins``: the installed plugins, their states and what they registered.

With ``--json`` prints a list of objects with the keys ``name`` (of the entry point),
``distribution``, ``version``, ``target`` (of the entry point), ``builtin`` (whether it is a part of
Chainer), ``location`` (metadata folder), ``state`` (loaded, blocked, incompatible or failed),
``error`` (what is wrong, or null), ``conflicts`` (names that it did not get), ``seconds`` (of
loading), ``enabled`` (whether the user enabled it), ``registered`` (kind -> names), ``replaced``
(what it replaces), ``refused`` (what it would replace if it were enabled) and ``event_hooks``.
"""

from __future__ import annotations

import argparse
import sys

from chainer import plugins
from chainer.core.registry import registries
from chainer.plugins.commands._output import did_you_mean, print_json, print_table
from chainer.plugins.records import PluginRecord

HELP = "list plugins, their states and what they register"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only these, by entry point or distribution"
    )
    parser.add_argument("--all", action="store_true", help="include Chainer's own packs")
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
            print(f"chainer plugins: no plugin named {name!r} is installed{hint}", file=sys.stderr)
            return 2
    records = [record for record in known if _wanted(record, options)]
    if options.json:
        print_json([record.as_dict() for record in records])
    elif records:
        _print(records, options.failed)
    else:
        builtin = sum(record.builtin for record in known)
        print(
            "no plugins with problems"
            if options.failed
            else f"no plugins of other distributions are installed; --all lists the {builtin} "
            "built-in ones"
        )
    return 1 if options.failed and records else 0


def _wanted(record: PluginRecord, options: argparse.Namespace) -> bool:
    if options.names and not any(map(record.matches, options.names)):
        return False
    if options.failed:
        return record.state in ("failed", "incompatible") or bool(record.conflicts)
    # A problem of Chainer itself is always shown.
    return (
        bool(options.all or options.names)
        or not record.builtin
        or record.state in ("failed", "incompatible")
    )


def _print(records: list[PluginRecord], failed: bool) -> None:
    rows = [
        (r.name, r.distribution, r.version, r.state, _milliseconds(r), _note(r)) for r in records
    ]
    print_table(("name", "distribution", "version", "state", "ms", ""), rows)
    if failed:
        for record in records:
            print(f"\n{record.provenance} -> {record.target}\n  {record.problem}")


def _milliseconds(record: PluginRecord) -> str:
    return "" if record.seconds is None else f"{record.seconds * 1e3:.0f}"


def _note(record: PluginRecord) -> str:
    if record.problem:
        # A table has one line for each plugin; --failed shows the whole text.
        return record.problem.partition("\n")[0]
    return "; ".join(filter(None, [record.summary(), *record.remarks()]))
