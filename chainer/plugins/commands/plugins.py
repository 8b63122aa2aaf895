"""``chainer plugins``: the installed plugins, their states and what they registered."""

from __future__ import annotations

import argparse

from chainer import plugins
from chainer.core import registries
from chainer.plugins.commands._output import print_json, print_table
from chainer.plugins.records import PluginRecord

HELP = "list plugins, their states and what they register"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("--all", action="store_true", help="include Chainer's own packs")
    parser.add_argument(
        "--failed",
        action="store_true",
        help="only plugins with a problem, with details; exit status 1 if there are any",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Loads every plugin and lists them."""
    for registry in registries.ALL.values():
        registry.load_all()
    records = [record for record in plugins.records() if _wanted(record, options)]
    if options.json:
        print_json([record.as_dict() for record in records])
    elif records:
        _print(records, options.failed)
    else:
        print("no plugins with problems" if options.failed else "no plugins installed")
    return 1 if options.failed and records else 0


def _wanted(record: PluginRecord, options: argparse.Namespace) -> bool:
    if options.failed:
        return record.state in ("failed", "incompatible") or bool(record.conflicts)
    # What is wrong with Chainer itself is never hidden.
    return options.all or not record.builtin or record.state in ("failed", "incompatible")


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
        return record.problem.partition("\n")[0]
    counts = [f"{len(names)} {kind}" for kind, names in record.supplied().items()]
    return ", ".join(counts)
