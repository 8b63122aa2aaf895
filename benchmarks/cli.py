"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.driver import PROGRAMS, Options, Result, run_benchmark
from benchmarks.machine import describe_machine
from benchmarks.peers import DEFAULT_NAMES, NAMES, ROOT, find_peer
from benchmarks.report import format_result, write_json


def main(arguments: list[str] | None = None) -> int:
    """Runs the chosen benchmarks and prints their tables.

    Returns:
        Exit status: 1 when something failed in a worker, otherwise 0.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["multi_process"]:
        # Its programs run in several processes, which the driver of the others does not start.
        from benchmarks.multi_process.__main__ import main as multi_process

        return multi_process(given[1:])
    if given[:1] == ["traps"]:
        # It compares values, and has no times.
        from benchmarks.traps import main as traps

        return traps(given[1:])
    parser = _parser()
    options = parser.parse_args(given)
    available = list_benchmarks(options.programs)
    options.benchmarks = [completed(name, available) for name in options.benchmarks]
    if options.list:
        for name, title in available.items():
            print(f"{name:24} {title}")
        return 0
    unknown = [name for name in options.benchmarks if name not in available]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(available)}")
    machine = describe_machine()
    print("machine: " + ", ".join(f"{key} {value}" for key, value in machine.items()))
    print(
        "ratios are peer/ours of the smallest values (peer/ours-ideep where iDeep is judged): "
        "above 1, ours is faster (or smaller)",
        flush=True,
    )
    results: list[Result] = []
    for name in options.benchmarks or available:
        # Who names an earlier state wants to see that one, and not to wait for all others.
        columns = ["ours", "before"]
        if not options.before:
            columns = default_peers(options.programs, name, options.quick)
        peers = [
            find_peer(peer, options.ours, options.folder, options.before)
            for peer in options.peers or columns
        ]
        for threads in options.threads or default_threads(options.programs, name):
            settings = Options(
                rounds=options.rounds or (2 if options.quick else 7),
                sample_seconds=0.0 if options.quick else options.seconds,
                threads=threads,
                is_pinned=not uses_processes(options.programs, name),
                timeout=options.timeout,
                programs=options.programs,
                cases=tuple(options.case),
            )
            result = run_benchmark(name, peers, settings)
            results.append(result)
            print("\n" + format_result(result), flush=True)
            if options.json:
                write_json(
                    options.json, machine, results
                )  # after each, so that an interrupted run leaves some
    return 1 if any(result.errors for result in results) else 0


def list_benchmarks(programs: Path) -> dict[str, str]:
    """Returns name -> title of all benchmarks; programs are read, not run."""
    found = {}
    for path in sorted((programs / "with_chainer").glob("*.py")):
        tree = ast.parse(path.read_text())
        if "CASES" in _constants(tree):  # the others are modules that programs share
            found[path.stem] = (ast.get_docstring(tree) or "").split("\n", 1)[0]
    return found


def completed(name: str, available: Iterable[str]) -> str:
    """Returns the benchmark whose name begins with a text, if there is one only, else the text.

    A program cannot have the name of a package that it imports: ``onnx`` is short for
    ``onnx_models``.
    """
    found = [other for other in available if other.startswith(f"{name}_")]
    return found[0] if name not in available and len(found) == 1 else name


def default_threads(programs: Path, name: str) -> list[int]:
    """Returns the numbers of threads that a benchmark runs with unless told otherwise."""
    return _literal(programs, name, "THREADS") or [1]


def uses_processes(programs: Path, name: str) -> bool:
    """Returns whether a benchmark measures several processes, which need a processor each."""
    return bool(_literal(programs, name, "PROCESSES"))


def default_peers(programs: Path, name: str, is_quick: bool = False) -> list[str]:
    """Returns the peers that a benchmark runs with unless told otherwise."""
    quick = _literal(programs, name, "QUICK_PEERS") if is_quick else None
    return quick or _literal(programs, name, "PEERS") or DEFAULT_NAMES


def _literal(programs: Path, name: str, constant: str) -> list[Any] | None:
    tree = ast.parse((programs / "with_chainer" / f"{name}.py").read_text())
    value = _constants(tree).get(constant)
    return None if value is None else list(ast.literal_eval(value))


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Names assigned at the top of a program."""
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Benchmarks against peers in the same run."
    )
    parser.add_argument("benchmarks", nargs="*", help="names (default: all; see --list)")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        help="only cases whose name contains this (repeatable)",
    )
    parser.add_argument("--peers", nargs="+", choices=NAMES, help="columns")
    parser.add_argument(
        "--ours",
        type=_interpreter,
        default=sys.executable,
        metavar="PYTHON",
        help="interpreter of the Chainer under test",
    )
    parser.add_argument(
        "--before",
        type=_interpreter,
        metavar="PYTHON",
        help="interpreter of an earlier Chainer 8 (column 'before'); default peers: ours, before",
    )
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".peers", help="folder of the peers' environments"
    )
    parser.add_argument(
        "--threads",
        nargs="+",
        type=int,
        help="numbers of threads, each run in turn (default: what the benchmark says, mostly 1)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="two rounds of single calls: shows that all runs, not how fast",
    )
    parser.add_argument("--rounds", type=int, help="samples of each case and peer (default 7)")
    parser.add_argument(
        "--seconds", type=float, default=0.1, help="length of a sample (default 0.1)"
    )
    parser.add_argument(
        "--timeout", type=float, default=600.0, help="seconds to wait for one answer of a worker"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="also write all samples to this file"
    )
    parser.add_argument(
        "--programs",
        type=Path,
        default=PROGRAMS,
        help="folder that holds with_<framework>/<name>.py",
    )
    return parser


def _interpreter(text: str) -> str:
    """Makes an interpreter's path absolute: workers run elsewhere. Links, as in venvs, stay."""
    return os.path.abspath(text) if os.sep in text else text
