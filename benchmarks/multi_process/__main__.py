"""Command line: python -m benchmarks multi_process.

Runs chainermn (with mpi4py alone in the same processes) and PyTorch with Gloo in turn, several
rounds, one thread for each process, and prints ratios of the smallest times.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from chainermn import step_time as step_model

HERE = Path(__file__).resolve().parent
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks multi_process", description=__doc__)
    parser.add_argument("--torch", metavar="PYTHON", help="interpreter that has PyTorch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=20, help="samples of each round")
    parser.add_argument("-n", type=int, default=2, help="number of processes (default 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all samples here")
    options = parser.parse_args(arguments)
    alone_words = ["mlp", str(options.samples), "cnn", str(options.samples)]
    words = ["allreduce", "5", *alone_words, "transformer", str(options.samples)]
    samples: dict[str, Any] = {}
    for _ in range(options.rounds):
        merge(samples, run_chainer(options.n, words), "")
        merge(samples, run_chainer(1, alone_words), "alone ")
        if options.torch:
            merge(samples, run_torch(options.torch, options.n, words), "")
            merge(samples, run_torch(options.torch, 1, alone_words), "alone ")
    if options.json:
        options.json.write_text(json.dumps(samples, indent=1))
    print(report(samples, options.n))
    return 0


def run_chainer(n: int, words: list[str]) -> dict[str, Any]:
    from chainermn.launching.finding import find_launcher

    command = [find_launcher().path, "-n", str(n), sys.executable, str(HERE / "with_chainer.py")]
    done = subprocess.run(
        [*command, *words], env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"with_chainer.py failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def run_torch(python: str, n: int, words: list[str]) -> dict[str, Any]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = {**os.environ, **ENVIRONMENT, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    processes = [
        subprocess.Popen(
            [python, str(HERE / "with_torch.py"), *words],
            env={**base, "RANK": str(rank), "WORLD_SIZE": str(n)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(n)
    ]
    outputs = [process.communicate() for process in processes]
    if any(process.returncode for process in processes):
        raise RuntimeError(f"with_torch.py failed:\n{outputs[0][1]}")
    return json.loads(outputs[0][0].splitlines()[-1])


def merge(samples: dict[str, Any], new: dict[str, Any], prefix: str) -> None:
    """Adds the samples of a round to those of the rounds before."""
    for key, value in new.items():
        if isinstance(value, dict):
            merge(samples.setdefault(prefix + key, {}), value, "")
        elif isinstance(value, list):
            samples.setdefault(key, []).extend(value)
        else:
            samples[key] = value


def report(samples: dict[str, Any], n: int) -> str:
    """Returns the tables: smallest times in milliseconds, and ratios peer/ours."""
    lines = [f"allreduce, {n} processes: ms, peer/ours", "bytes ours mpi4py torch | mpi4py torch"]
    for size, times in samples["allreduce"].items():
        best = {name: 1e3 * min(values) for name, values in times.items()}
        row = [f"{best[name]:.4f}" if name in best else "-" for name in ("ours", "mpi4py", "torch")]
        ratios = [
            f"{best[name] / best['ours']:.2f}" if name in best else "-"
            for name in ("mpi4py", "torch")
        ]
        lines.append(f"{size} {' '.join(row)} | {' '.join(ratios)}")
    network = fitted_network(samples["allreduce"], n)
    lines.append(
        f"fitted: latency {1e6 * network.latency:.1f} us, {network.bandwidth / 1e9:.2f} GB/s"
    )
    for name in ("mlp", "cnn"):
        together, alone = samples[name], samples["alone " + name]
        best = {k: 1e3 * min(v) for k, v in together.items() if isinstance(v, list)}
        one = {k: 1e3 * min(v) for k, v in alone.items() if isinstance(v, list)}
        lines.append(f"{name}: step in ms, {n} processes (efficiency 1 -> {n})")
        for kind, value in best.items():
            lines.append(f"  {kind} {value:.2f} ({one[kind] / value:.2f})")
        if "torch" in best:
            lines.append(f"  torch/ours {best['torch'] / best['plain']:.2f}")
        step = step_model.Step(
            one["plain"] / 3e3, 2 * one["plain"] / 3e3, 0, together["parameters"]
        )
        predicted = 1e3 * step_model.step_seconds(step, n, network)
        lines.append(f"  predicted by the model {predicted:.2f}, measured {best['plain']:.2f}")
    best = {kind: 1e3 * min(values) for kind, values in samples["transformer"].items()}
    lines.append(
        f"transformer of 6 layers: step in ms, {n} processes, all sharded or data parallel"
    )
    lines += [f"  {kind} {value:.0f}" for kind, value in best.items()]
    if "fsdp" in best:
        lines.append(f"  fsdp/zero3 {best['fsdp'] / best['zero3']:.2f}")
    return "\n".join(lines)


def fitted_network(allreduce: dict[str, Any], n: int) -> step_model.Network:
    """Returns latency and bandwidth from the smallest and the largest sum."""
    best = {int(size): min(times["ours"]) for size, times in allreduce.items()}
    rounds = 2 * (n - 1)
    latency = best[min(best)] / rounds
    large = 10**7 if 10**7 in best else max(best)
    bandwidth = rounds * large / n / max(best[large] - rounds * latency, 1e-9)
    return step_model.Network(latency, bandwidth)


if __name__ == "__main__":
    sys.exit(main())
