"""Makes random calls in release 7.8.1 and in this one, and prints the differences.

    python -m tests.comparison --peer .peers/chainer7/bin/python
    python -m tests.comparison --peer .peers/chainer7/bin/python --dtypes
    python -m tests.comparison --peer .peers/chainer7/bin/python --special
    python -m tests.comparison --peer .peers/chainer7/bin/python --graphs --calls 20000
    python -m tests.comparison --peer .peers/chainer7/bin/python --store
    python -m tests.comparison --peer .peers/chainer7/bin/python --trainers 500
    python -m tests.comparison --peer .peers/chainer7/bin/python --links 2000
    python -m tests.comparison --peer .peers/chainer7/bin/python --caffe 500
    python -m tests.comparison --peer .peers/chainer7/bin/python --files 600
    python -m tests.comparison --peer .peers/chainer7/bin/python --names

``--trainers`` compares random runs of a trainer, ``--links`` trees of links, ``--caffe``
networks in files of Caffe, ``--files`` objects that each release saves and both load, ``--names``
the names that modules have. ``--graphs`` runs
random programs of backpropagation, and compares all gradients. ``--dtypes`` calls every function
with mixtures of dtypes instead. ``--special`` makes some elements of inputs and gradients NaN or
infinite, and compares what is finite in release 7.8.1. ``--store`` writes the answers of release
7.8.1 that the tests compare with, when the calls or programs change.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import chainer
from tests.comparison import exchanges
from tests.comparison.calls import names
from tests.comparison.compare import Difference, compare_answers
from tests.comparison.dtypes import compare_outcomes
from tests.comparison.graph_differences import first_difference
from tests.comparison.graphs import answer, program_of
from tests.comparison.intended import intended_name
from tests.comparison.stored import store, store_dtypes, store_graphs

ROOT = Path(__file__).resolve().parent.parent.parent

#: Program of a worker. The root is on the path only while this package is imported from it, and
#: chainer is imported first: it must be that of the interpreter, not the one beside this package.
_START = """
import sys
if sys.version_info < (3, 11):
    import chainer
sys.path.insert(0, sys.argv[1])
import importlib
importlib.import_module(sys.argv[2]).main(sys.argv[3:])
"""

#: Calls of each function whose answers are stored.
STORED_ROUNDS = 4
#: Programs of backpropagation whose answers are stored.
STORED_GRAPHS = 300


def main(arguments: list[str] | None = None) -> int:
    """Runs the comparison.

    Returns:
        int: Exit status: 1 if there are differences that are not intended.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tests.comparison", description="Comparison with release 7.8.1."
    )
    parser.add_argument(
        "--peer",
        default=str(ROOT / ".peers" / "chainer7" / "bin" / "python"),
        help="interpreter that imports release 7.8.1",
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--calls", type=int, default=4000, help="number of calls")
    parser.add_argument("--store", action="store_true", help="store answers for the tests")
    parser.add_argument("--dtypes", action="store_true", help="mixtures of dtypes")
    parser.add_argument("--special", action="store_true", help="with NaN and infinities")
    parser.add_argument("--graphs", action="store_true", help="programs of backpropagation")
    parser.add_argument("--trainers", type=int, metavar="N", help="N random runs of a trainer")
    parser.add_argument("--links", type=int, metavar="N", help="N random programs of links")
    parser.add_argument("--caffe", type=int, metavar="N", help="N random networks of Caffe")
    parser.add_argument("--files", type=int, metavar="N", help="N objects, saved and loaded")
    parser.add_argument("--names", action="store_true", help="names of all modules")
    options = parser.parse_args(arguments)
    # Workers run in another folder. The link of an environment must not be resolved.
    options.peer = os.path.abspath(options.peer)
    last = options.first + options.calls
    if options.graphs:
        return _compare_graphs(options.peer, options.first, last, options.store)
    interpreters = options.peer, sys.executable
    # Functions that store and compare N random programs of each kind.
    for count, stored, compared in (
        (options.trainers, exchanges.store_trainers, exchanges.compare_trainers),
        (options.links, exchanges.store_link_programs, exchanges.compare_links),
        (options.caffe, exchanges.store_networks, exchanges.compare_networks),
    ):
        if count and options.store:
            stored(_output_of, options.peer, count)
            return 0
        if count:
            return min(1, compared(_output_of, *interpreters, count, options.first))
    if options.files:
        return min(1, exchanges.compare_files(_output_of, *interpreters, options.files))
    if options.names:
        return min(1, exchanges.compare_names(_output_of, *interpreters))
    if options.dtypes:
        return _compare_dtypes(options.peer, options.store)
    if options.store:
        store(answers_of(options.peer, 0, STORED_ROUNDS * len(names())))
        return 0
    theirs = answers_of(options.peer, options.first, last, options.special)
    ours = answers_of(sys.executable, options.first, last, options.special)
    return _report(
        len(theirs),
        (
            difference
            for number, (a, b) in enumerate(zip(theirs, ours, strict=True), options.first)
            for difference in compare_answers(number, a, b, options.special)
        ),
        options.special,
    )


def _compare_dtypes(peer: str, storing: bool) -> int:
    theirs = json.loads(_output_of(peer, "tests.comparison.dtypes"))
    if storing:
        store_dtypes(theirs)
        return 0
    found = [
        difference
        for name, calls in theirs.items()
        for difference in compare_outcomes(chainer, name, calls)
    ]
    return _report(sum(len(mixed) for calls in theirs.values() for mixed in calls.values()), found)


def _compare_graphs(peer: str, first: int, last: int, storing: bool) -> int:
    if storing:
        store_graphs(_graphs(peer, 0, STORED_GRAPHS))
        return 0
    found = 0
    for number, theirs in enumerate(_graphs(peer, first, last), first):
        program = program_of(number)
        difference = first_difference(theirs, answer(chainer, number), program)
        if difference is not None:
            found += 1
            print(f"program {number}, statement {difference[0]}: {difference[1]}")
            print("    " + "\n    ".join(program))
    print(f"{last - first} programs, {found} differ")
    return 1 if found else 0


def _graphs(python: str, first: int, last: int) -> list[Any]:
    output = _output_of(python, "tests.comparison.graphs", str(first), str(last))
    return [json.loads(line) for line in output.splitlines()]


def _report(calls: int, differences: Iterable[Difference], special: bool = False) -> int:
    """Prints the differences that are not intended and the numbers of all; returns the status."""
    counts: Counter[str | None] = Counter()
    for difference in differences:
        name = intended_name(difference, special)
        counts[name] += 1
        if name is None:
            print(difference)
    print(f"{calls} calls")
    for name, count in counts.most_common():
        print(f"{count:6} {name or 'NOT INTENDED'}")
    return 1 if counts[None] else 0


def answers_of(python: str, first: int, last: int, special: bool = False) -> list[dict[str, Any]]:
    """Returns the answers of the release that an interpreter imports.

    Args:
        python: Interpreter.
        first: Number of the first call.
        last: Number after that of the last call.
        special: Whether some elements of inputs and gradients are NaN or infinite.
    """
    arguments = [str(first), str(last), *(["special"] if special else [])]
    output = _output_of(python, "tests.comparison.worker", *arguments)
    return [json.loads(line) for line in output.splitlines()]


def _output_of(python: str, module: str, *arguments: str) -> str:
    environment = dict(os.environ, PYTHONPATH="", OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore")
    return subprocess.run(
        [python, "-c", _START, str(ROOT), module, *arguments],
        env=environment,
        cwd="/",
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
