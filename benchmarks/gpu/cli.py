"""Command line of the benchmarks on a GPU."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.cli import list_benchmarks
from benchmarks.driver import Options, Result, run_benchmark
from benchmarks.gpu.card import describe_card
from benchmarks.machine import describe_machine
from benchmarks.peers import Peer
from benchmarks.report import format_result, write_json

PROGRAMS = Path(__file__).resolve().parent


class Neighbour(Peer):
    """A peer in this very interpreter; the header names its versions."""

    @property
    def packages(self) -> list[str]:
        """Nothing: a worker cannot import modules of PYTHONPATH before its program is loaded."""
        return []


def main(arguments: list[str] | None = None) -> int:
    """Runs the chosen benchmarks and prints their tables.

    Returns:
        Exit status: 1 when something failed in a worker, 2 when there is no card, otherwise 0.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    available = list_benchmarks(PROGRAMS)
    if options.list:
        for name, title in available.items():
            print(f"{name:24} {title}")
        return 0
    unknown = [name for name in options.benchmarks if name not in available]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(available)}")
    machine = describe_machine() | describe_card()
    print("machine: " + ", ".join(f"{key} {value}" for key, value in machine.items()))
    if options.device == "cuda" and "card" not in machine:
        print("there is no NVIDIA card here; --device cpu --quick shows that the programs run")
        return 2
    print(
        "ratios are torch/ours of the smallest values: above 1, ours is faster (or smaller)",
        flush=True,
    )
    os.environ["BENCH_DEVICE"] = options.device
    os.environ["BENCH_QUICK"] = "1" if options.quick else ""
    os.environ["BENCH_PATH"] = os.environ.get("PYTHONPATH", "")  # workers ignore it by itself
    peers: list[Peer] = [
        Neighbour("ours", "chainer", sys.executable),
        Neighbour("torch", "torch", sys.executable),
    ]
    settings = Options(
        rounds=options.rounds or (2 if options.quick else 7),
        sample_seconds=0.0 if options.quick else options.seconds,
        timeout=options.timeout,
        programs=PROGRAMS,
        cases=tuple(options.case),
    )
    results: list[Result] = []
    for name in options.benchmarks or available:
        result = run_benchmark(name, peers, settings)
        results.append(result)
        print("\n" + format_result(result), flush=True)
        if options.json:  # after each, so that an interrupted run leaves some
            write_json(options.json, machine, results)
    return 1 if any(result.errors for result in results) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu",
        description="Benchmarks on a GPU against PyTorch in the same run.",
    )
    parser.add_argument("benchmarks", nargs="*", help="names (default: all; see --list)")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        help="only cases whose name contains this (repeatable)",
    )
    parser.add_argument(
        "--device",
        choices=("cuda", "cpu"),
        default="cuda",
        help="cpu tries the programs where no card is; its times mean nothing",
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes and two rounds of single calls"
    )
    parser.add_argument("--rounds", type=int, help="samples of each case and peer (default 7)")
    parser.add_argument(
        "--seconds", type=float, default=0.2, help="length of a sample (default 0.2)"
    )
    parser.add_argument(
        "--timeout", type=float, default=300.0, help="seconds to wait for one answer of a worker"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all samples to FILE")
    return parser
