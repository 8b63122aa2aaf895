"""``chainer doctor``: explains why a plugin is missing or does not work.

Examines a plugin, given the name of its entry point, distribution or module, and everything that it
registers. If there is no plugin of that name, looks for it elsewhere on this machine. Without a
name, examines the environment and all plugins. The exit status is 1 if something is wrong.

With ``--json`` prints an object with the keys ``sound`` (whether nothing is wrong), ``python``,
``prefix``, ``chainer`` (version) and ``reports``: objects with the keys ``subject``, ``sound`` and
``findings``. A finding has the keys ``level`` (ok, note or error), ``cause`` (a word such as
import_error), ``text``, ``advice`` and ``lines`` (of the author's code).
"""

from __future__ import annotations

import argparse
import os
import sys

from chainer import plugins
from chainer.core.registry import registries
from chainer.core.version import __version__
from chainer.plugins import doctor, environment
from chainer.plugins.commands._output import print_indented, print_json

HELP = "explain why a plugin is missing or does not work"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="what is missing (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Prints what is found."""
    # Failures must be reported here, not raised by the manager.
    os.environ.pop(environment.STRICT, None)
    for registry in registries.ALL.values():
        registry.load_all()
    records = plugins.records()
    if options.name is None:
        reports = doctor.examine_all(records)
    else:
        reports = doctor.examine_name(options.name, records)
    sound = all(report.sound for report in reports)
    if options.json:
        print_json(
            {
                "sound": sound,
                "python": sys.executable,
                "prefix": sys.prefix,
                "chainer": __version__,
                "reports": [report.as_dict() for report in reports],
            }
        )
    else:
        if options.name is not None:
            print(doctor.where())
        for report in reports:
            _print(report)
        print("\nnothing is wrong" if sound else "\nsomething is wrong, see the errors above")
    return 0 if sound else 1


def _print(report: doctor.Report) -> None:
    print(f"\n{report.subject}")
    for finding in report.findings:
        print_indented(finding.text, f"  {finding.level:<7}", " " * 9)
        for line in finding.lines:
            print(f"         at {line}")
        if finding.advice:
            print_indented(finding.advice, " " * 9 + "-> ", " " * 12)
