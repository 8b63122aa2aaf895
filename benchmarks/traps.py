"""Steps that compilers get wrong: the same programs with ``chainer.capture`` and its peers.

Run as ``python -m benchmarks traps``. Nothing is timed. Each program of ``tests/capture_traps``
runs with its step as written and with its step compiled, and the values are compared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from typing import Any

from benchmarks.peers import ROOT, find_peer

#: Columns, and what compiles there.
COMPILERS = {
    "chainer": "chainer.capture",
    "torch": "torch.compile",
    "jax": "jax.jit",
    "mlx": "mlx.compile",
    "tinygrad": "TinyJit of tinygrad",
}

OUTCOMES = ("right", "warning", "error", "wrong, with a warning", "silently wrong", "n/a")


def run(name: str, python: str) -> dict[str, Any]:
    """Returns the outcomes of a framework, or why there are none."""
    command = [python, "-m", "tests.capture_traps", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"missing": (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


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
    options = parser.parse_args(arguments)
    results = {}
    for name in options.peers:
        peer = find_peer("ours" if name == "chainer" else name)
        found = {"missing": peer.unavailable} if peer.unavailable else run(name, peer.python)
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
