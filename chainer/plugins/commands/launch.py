"""``chainer launch``: runs a program in several processes that are connected by MPI.

Finds the ``mpiexec`` of the MPI that mpi4py uses, gives each process its share of the cores (as
numbers of threads), and passes signals on. If one process fails, all are ended, and the traceback
of the first that failed is printed. The distribution ``chainermn`` does the work (extra ``mpi``).

Example:
    ::

        chainer launch -n 4 train.py --epoch 10
"""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from chainer.core.installation import install_command

HELP = "run a program in several processes, over MPI (needs chainermn)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of processes")
    parser.add_argument("--threads", type=int, metavar="T", help="threads of each process")
    parser.add_argument(
        "--hosts", metavar="H1,H2", help="hosts of the processes (default: this one)"
    )
    parser.add_argument("--mpiexec", metavar="FILE", help="the launcher of MPI to use")
    parser.add_argument(
        "--max-restarts",
        type=int,
        default=0,
        metavar="R",
        help="how often to start again after a failure (default: 0)",
    )
    parser.add_argument(
        "--start-timeout",
        type=float,
        metavar="S",
        help="seconds that MPI may take to tell its version before the start (default: 60, times "
        "the load of each core where it is more than one)",
    )
    parser.add_argument("script", metavar="SCRIPT", help="Python program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")


def run(options: argparse.Namespace) -> int:
    """Runs the program and returns its status."""
    try:
        launching: Any = importlib.import_module("chainermn.launching")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("chainermn"):
            raise
        print(
            f"chainer launch needs chainermn: {install_command('chainermn[mpich]')}",
            file=sys.stderr,
        )
        return 2
    try:
        return int(
            launching.launch(
                [options.script, *options.arguments],
                options.n,
                threads=options.threads,
                hosts=options.hosts.split(",") if options.hosts else None,
                mpiexec=options.mpiexec,
                max_restarts=options.max_restarts,
                start_timeout=options.start_timeout,
            )
        )
    except (ValueError, OSError, launching.LaunchError) as error:
        print(f"chainer launch: {error}", file=sys.stderr)
        return 2
