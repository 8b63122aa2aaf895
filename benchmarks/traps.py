"""Steps that compilers get wrong: the same programs with ``chainer.capture`` and its peers.

Run as ``python -m benchmarks traps``. Nothing is timed. Each program of ``tests/capture_traps``
runs with its step as written and with its step compiled, and the values are compared.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections import Counter
from typing import IO, Any

from benchmarks.peers import ROOT, find_peer

#: Columns, and what compiles there.
COMPILERS = {
    "chainer": "chainer.capture",
    "torch": "torch.compile",
    "jax": "jax.jit",
    "mlx": "mlx.compile",
    "tinygrad": "TinyJit of tinygrad",
}

OUTCOMES = ("right", "warning", "error", "no end", "wrong, with a warning", "silently wrong", "n/a")

#: Time that the import of a framework may take.
STARTUP_SECONDS = 120.0


def run(name: str, python: str, limit: float) -> dict[str, Any]:
    """Returns the outcomes of a framework, or why there are none.

    A compiler that does not return is stopped after ``limit`` seconds, and another process goes on
    with the next trap.
    """
    outcomes: list[Any] = []
    version = ""
    while True:
        # In a session of its own: compilers start processes, which end with it.
        worker = subprocess.Popen(
            [python, "-m", "tests.capture_traps", name, str(len(outcomes))],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            lines = Lines(worker)
            started = json.loads(lines.next(max(limit, STARTUP_SECONDS)) or "{}")
            if not started:
                return {"missing": lines.last_error()}
            version, names = started["version"], started["traps"]
            while len(outcomes) < len(names):
                line = lines.next(limit)
                if line is None:
                    outcomes.append([*names[len(outcomes)], "no end", f"{limit:g} s"])
                    break
                if not line:
                    outcomes.append([*names[len(outcomes)], "error", lines.last_error()])
                    break
                outcomes.append(json.loads(line))
            if len(outcomes) == len(names):
                return {"version": version, "outcomes": outcomes}
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


class Lines:
    """The lines that a process prints, with a limit for each."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and process.stderr is not None
        self._found: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._errors: list[str] = []
        self._reading = threading.Thread(
            target=lambda stream: self._errors.extend(_text(line) for line in stream),
            args=(process.stderr,),
            daemon=True,
        )
        self._reading.start()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            # What a framework prints is not an outcome.
            if line.startswith(b"trap: "):
                self._found.put(_text(line[6:]))
        self._found.put("")

    def next(self, seconds: float) -> str | None:
        """Returns the next line; "" at the end, None if none came in time."""
        try:
            return self._found.get(timeout=seconds)
        except queue.Empty:
            return None

    def last_error(self) -> str:
        """Returns the last line of the errors of a process that has ended."""
        self._reading.join(1)
        lines = [line for line in self._errors if line]
        return lines[-1] if lines else "the process ended"


def _text(line: bytes) -> str:
    return line.decode(errors="replace").strip()


def table(results: dict[str, dict[str, Any]]) -> str:
    """Returns the summary as a table of Markdown."""
    names = list(results)
    heading = [f"{COMPILERS[name]} {results[name]['version']}" for name in names]
    lines = [f"| outcome | {' | '.join(heading)} |", "|---|" + "---:|" * len(names)]
    counts = {name: Counter(o[3] for o in results[name]["outcomes"]) for name in names}
    for outcome in OUTCOMES:
        cells = [str(counts[name][outcome]) for name in names]
        lines.append(f"| {outcome} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Runs the traps; returns 1 if ``chainer.capture`` is wrong in one of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks traps", description=__doc__)
    parser.add_argument("--peers", nargs="+", choices=list(COMPILERS), default=list(COMPILERS))
    parser.add_argument("--all", action="store_true", help="list every trap, not only wrong ones")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one trap (120)")
    options = parser.parse_args(arguments)
    results = {}
    for name in options.peers:
        peer = find_peer("ours" if name == "chainer" else name)
        found = (
            {"missing": peer.unavailable}
            if peer.unavailable
            else run(name, peer.python, options.limit)
        )
        if "missing" in found:
            print(f"{name}: not run ({found['missing']})")
        else:
            results[name] = found
    print(table(results))
    for name, found in results.items():
        for theme, trap, _, outcome, told in found["outcomes"]:
            if options.all or "wrong" in outcome:
                print(f"{name}: {theme}/{trap}: {outcome} {told}".rstrip())
    return int(any("wrong" in o[3] for o in results.get("chainer", {"outcomes": []})["outcomes"]))
