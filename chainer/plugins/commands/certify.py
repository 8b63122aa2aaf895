"""``chainer certify``: tests a backend, a kernel provider or a plugin, and writes one report.

NAME is a backend (``strict``, ``strict:1``), a kernel provider (``numba``), or a plugin: its entry
point, its distribution or its module. All that the plugin supplies is tested: the contract of
backends, every function on their arrays (outputs, gradients, gradients of gradients, layouts and
dtypes), kernels, captured steps, threads, files, transfers; rows of the functions (module ``specs``
of the package); metadata, objects and types of the package. ``--opinfo`` adds PyTorch's samples,
``--array-api-tests`` the test suite of the array API standard. A crash of native code is one
failure, and the run goes on.

Writes certificate.json, certificate.html, certificate.md (a table for a README) and badge.svg into
the folder ``--output``. The exit status is 1 if a test failed, 2 if there is nothing of that name.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import signal
import sys
from pathlib import Path
from typing import Any

from chainer.core.installation import install_command
from chainer.plugins.commands._output import print_json, print_table

HELP = "test a backend, kernels or a plugin, and write a report with a badge"

#: Failures that are printed. The report has all of them.
_PRINTED = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("name", metavar="NAME", help="backend, kernel provider or plugin")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="test operations in float32 and on fewer samples",
    )
    parser.add_argument(
        "--specs",
        metavar="MODULE:ATTRIBUTE",
        help="rows of the package's functions (default: SPECS of its module specs)",
    )
    parser.add_argument("--device", metavar="D", help="device for kernels and functions")
    parser.add_argument(
        "--opinfo",
        metavar="PYTHON",
        nargs="?",
        const=sys.executable,
        help="compare functions with PyTorch on the samples of its OpInfo; PYTHON has PyTorch "
        "(default: this one)",
    )
    parser.add_argument(
        "--array-api-tests",
        metavar="D",
        help="folder with the test suite of the array API standard, for backends that follow it",
    )
    parser.add_argument(
        "--only", metavar="EXPRESSION", help="only these tests, as pytest's option -k"
    )
    parser.add_argument(
        "--output",
        metavar="D",
        default="certificate",
        help="folder for the files (default: certificate)",
    )
    parser.add_argument("--readme", metavar="FILE", help="README whose table is brought up to date")
    parser.add_argument(
        "--processes", type=int, metavar="N", help="number of processes (default: one per core)"
    )
    parser.add_argument(
        "--seconds-per-test",
        type=float,
        default=300.0,
        metavar="S",
        help="a test that takes longer is stopped and has failed (default: 300)",
    )
    parser.add_argument("--json", action="store_true", help="print certificate.json")


def run(options: argparse.Namespace) -> int:
    """Tests, prints the summary and writes the files."""
    if importlib.util.find_spec("pytest") is None:
        command = install_command("chainer[test]")
        print(f"chainer certify: it needs pytest: {command}", file=sys.stderr)
        return 2
    # Imported here: the testing kit is large, and the other commands do not need it.
    kit: Any = importlib.import_module("chainer.testing.certification")
    files: Any = importlib.import_module("chainer.testing.certification.report_files")
    limits = {"seconds_per_test": options.seconds_per_test}
    if options.processes is not None:
        limits["processes"] = options.processes
    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            # As an exception, so that processes end and temporary files are removed.
            signal.signal(number, _end)
    show = _Progress(quiet=options.json or not sys.stderr.isatty())
    try:
        certificate = kit.certify(
            options.name,
            quick=options.quick,
            only=options.only,
            specs=options.specs,
            device=options.device,
            opinfo=options.opinfo,
            array_api_tests=options.array_api_tests,
            limits=kit.Limits(**limits),
            progress=show,
        )
    except (kit.UnknownSubjectError, kit.SuiteError) as error:
        print(f"chainer certify: {error}", file=sys.stderr)
        return 2
    show.end()
    written = files.write(certificate, Path(options.output))
    if options.readme is not None:
        files.update_readme(certificate, Path(options.readme))
    if options.json:
        print_json(certificate.as_dict())
    else:
        _print(certificate, files.remarks(certificate), written)
    return 0 if certificate.passed else 1


#: Signals that ask a program to end. Windows has no SIGHUP.
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


class _Progress:
    """Counts results on the terminal."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._done = self._failed = 0

    def __call__(self, result: Any) -> None:
        self._done += 1
        self._failed += result.failed
        if not self._quiet and (self._done % 20 == 0 or result.failed):
            print(f"\r{self._done} tests, {self._failed} failed", end="", file=sys.stderr)

    def end(self) -> None:
        """Clears the line."""
        if not self._quiet:
            print("\r" + " " * 40 + "\r", end="", file=sys.stderr)


def _print(certificate: Any, remarks: list[str], written: list[Path]) -> None:
    rows = [
        (part, group, *(str(count or "") for count in counts.values()))
        for (part, group), counts in certificate.table().items()
    ]
    print_table(("part", "tests", *certificate.total()), rows)
    print()
    for line in remarks:
        print(f"  {line}")
    print()
    print(certificate.summary(_PRINTED))
    print(f"{len(certificate.results)} tests in {certificate.seconds:.0f} s; written:")
    for path in written:
        print(f"  {path}")
