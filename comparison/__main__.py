"""Makes random calls in release 7.8.1 and in this one, and prints the differences.

    python -m comparison --peer .peers/chainer7/bin/python
    python -m comparison --peer .peers/chainer7/bin/python --store

``--store`` writes the answers of release 7.8.1 that the tests compare with, when the calls change.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from comparison.calls import names
from comparison.compare import compare_answers
from comparison.intended import intended_name
from comparison.stored import store

ROOT = Path(__file__).resolve().parent.parent

#: Program of a worker. The root is on the path only while this package is imported from it, and
#: chainer is imported first: it must be that of the interpreter, not the one beside this package.
_START = """
import sys
if sys.version_info < (3, 11):
    import chainer
sys.path.insert(0, sys.argv[1])
from comparison.worker import main
main(sys.argv[2:])
"""

#: Calls of each function whose answers are stored.
STORED_ROUNDS = 4


def main(arguments: list[str] | None = None) -> int:
    """Runs the comparison.

    Returns:
        int: Exit status: 1 if there are differences that are not intended.
    """
    parser = argparse.ArgumentParser(
        prog="python -m comparison", description="Comparison with release 7.8.1."
    )
    parser.add_argument(
        "--peer",
        default=str(ROOT / ".peers" / "chainer7" / "bin" / "python"),
        help="interpreter that imports release 7.8.1",
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--calls", type=int, default=4000, help="number of calls")
    parser.add_argument("--store", action="store_true", help="store answers for the tests")
    options = parser.parse_args(arguments)
    if options.store:
        store(answers_of(options.peer, 0, STORED_ROUNDS * len(names())))
        return 0
    last = options.first + options.calls
    theirs = answers_of(options.peer, options.first, last)
    ours = answers_of(sys.executable, options.first, last)
    counts: Counter[str | None] = Counter()
    for number, (a, b) in enumerate(zip(theirs, ours, strict=True), options.first):
        for difference in compare_answers(number, a, b):
            name = intended_name(difference)
            counts[name] += 1
            if name is None:
                print(difference)
    print(f"{len(theirs)} calls")
    for name, count in counts.most_common():
        print(f"{count:6} {name or 'NOT INTENDED'}")
    return 1 if counts[None] else 0


def answers_of(python: str, first: int, last: int) -> list[dict[str, Any]]:
    """Returns the answers of the release that an interpreter imports.

    Args:
        python: Interpreter.
        first: Number of the first call.
        last: Number after that of the last call.
    """
    environment = dict(os.environ, PYTHONPATH="", OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore")
    output = subprocess.run(
        [python, "-c", _START, str(ROOT), str(first), str(last)],
        env=environment,
        cwd="/",
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return [json.loads(line) for line in output.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
