"""Command line: python -m benchmarks multi_process.

Runs chainermn (with mpi4py alone in the same processes) and PyTorch with Gloo in turn, several
rounds, one thread for each process, and prints ratios of the smallest times. Then it prints how
much communication is hidden behind backward, how long the stages of a pipeline wait, and the model
of step times: fitted to 1, 2 and 4 processes, for up to 1,024.
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

from chainermn.step_time import bubble

from benchmarks.multi_process import overlap, pipelines, scaling

PARTS = ["peers", "overlap", "pipeline", "scaling"]
#: Numbers of processes to which the model is fitted, and of stages of pipelines.
FITTED, STAGES = (1, 2, 4), (2, 4)

HERE = Path(__file__).resolve().parent
#: Where ``scripts/setup_peers.py`` installs PyTorch.
TORCH = HERE.parents[1] / ".peers" / "torch" / "bin" / "python"
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks multi_process", description=__doc__)
    parser.add_argument(
        "--torch",
        metavar="PYTHON",
        default=str(TORCH) if TORCH.exists() else None,
        help="interpreter that has PyTorch (default: the one in .peers, if there is one)",
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=20, help="samples of each round")
    parser.add_argument("--only", choices=PARTS, action="append", help="one of the parts")
    parser.add_argument("-n", type=int, default=2, help="number of processes (default 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all samples here")
    options = parser.parse_args(arguments)
    parts = options.only or PARTS
    samples: dict[str, Any] = {}
    for _ in range(options.rounds):
        if "peers" in parts:
            compare(samples, options.n, str(options.samples), options.torch)
        if "scaling" in parts:
            words = ["mlp", str(options.samples), "cnn", str(options.samples)]
            for n in FITTED:
                sums = ["allreduce", "3"] if n > 1 else []
                merge(samples.setdefault(f"{n} processes", {}), run_chainer(n, sums + words), "")
        if "overlap" in parts:
            merge(samples, run_chainer(options.n, ["overlap", str(options.samples)]), "")
    if "pipeline" in parts:
        # Stages sleep: a few samples are as good as many.
        for n in STAGES:
            samples[f"pipeline {n}"] = run_chainer(n, ["pipeline", "3"])["pipeline"]
    if options.json:
        options.json.write_text(json.dumps(samples, indent=1))
    reports = {
        "peers": lambda: report(samples, options.n),
        "overlap": lambda: report_overlap(samples["overlap"], options.n),
        "pipeline": lambda: report_pipelines(samples),
        "scaling": lambda: report_scaling(samples),
    }
    print("\n".join(reports[part]() for part in PARTS if part in parts))
    return 0


def compare(samples: dict[str, Any], n: int, count: str, torch: str | None) -> None:
    """Runs one round with the peers."""
    alone_words = ["mlp", count, "cnn", count]
    words = ["allreduce", "5", *alone_words, "transformer", count]
    merge(samples, run_chainer(n, words), "")
    merge(samples, run_chainer(1, alone_words), "alone ")
    if torch:
        merge(samples, run_torch(torch, n, words), "")
        merge(samples, run_torch(torch, 1, alone_words), "alone ")


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
    for name in ("mlp", "cnn"):
        together, alone = samples[name], samples["alone " + name]
        best = {k: 1e3 * min(v) for k, v in together.items() if isinstance(v, list)}
        one = {k: 1e3 * min(v) for k, v in alone.items() if isinstance(v, list)}
        lines.append(f"{name}: step in ms, {n} processes (efficiency 1 -> {n})")
        for kind, value in best.items():
            lines.append(f"  {kind} {value:.2f} ({one[kind] / value:.2f})")
        if "torch" in best:
            lines.append(f"  torch/ours {best['torch'] / best['plain']:.2f}")
    best = {kind: 1e3 * min(values) for kind, values in samples["transformer"].items()}
    lines.append(
        f"transformer of 6 layers: step in ms, {n} processes, all sharded or data parallel"
    )
    lines += [f"  {kind} {value:.0f}" for kind, value in best.items()]
    if "fsdp" in best:
        lines.append(f"  fsdp/zero3 {best['fsdp'] / best['zero3']:.2f}")
    return "\n".join(lines)


def report_overlap(seconds: dict[str, list[float]], n: int) -> str:
    """Returns how much of the communication of gradients is hidden behind backward."""
    lines = [f"gradients of the transformer, {n} processes: ms in calls of MPI, at once and hidden"]
    for kind in overlap.KINDS:
        at_once = 1e3 * min(seconds[f"{kind} at once"])
        lines.append(f"  {kind} {at_once:.1f}, {100 * overlap.hidden(seconds, kind):.0f} %")
    return "\n".join(lines)


def report_pipelines(samples: dict[str, Any]) -> str:
    """Returns the part of the time for which stages wait, and micro-batches that are kept."""
    lines = ["pipelines: waiting measured (predicted), micro-batches kept by the first stage"]
    lines.append("stages micro-batches " + " ".join(pipelines.ORDERS))
    for n in STAGES:
        result = samples[f"pipeline {n}"]
        for number in pipelines.MICRO_BATCHES:
            row = [
                f"{min(result[f'{order} {number}']):.2f}"
                f" ({bubble(n, number):.2f}), {result[f'kept {order} {number}']}"
                for order in pipelines.ORDERS
            ]
            lines.append(f"{n} {number} | " + " | ".join(row))
    return "\n".join(lines)


def report_scaling(samples: dict[str, Any]) -> str:
    """Returns the fit of the model, and what it predicts."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    measured = {n: samples[f"{n} processes"] for n in FITTED}
    networks = {
        n: scaling.fitted_network(result["allreduce"], n) for n, result in measured.items() if n > 1
    }
    lines = [f"the model of step times, fitted on {cores} cores"]
    for n, network in networks.items():
        lines.append(
            f"  {n} processes: latency {1e6 * network.latency:.1f} us, "
            f"{network.bandwidth / 1e9:.2f} GB/s"
        )
    for name in ("mlp", "cnn"):
        seconds = {n: min(result[name]["plain"]) for n, result in measured.items()}
        parameters = measured[1][name]["parameters"]
        step = scaling.fitted_step(seconds, networks, parameters, cores or 1)
        for n in FITTED:
            network = networks.get(n, next(iter(networks.values())))
            lines.append(
                f"  {name}, {n} processes: fitted "
                f"{1e3 * scaling.predicted(step, n, network, cores or 1):.1f} ms, "
                f"measured {1e3 * seconds[n]:.1f}"
            )
        lines += scaling.table(name, step)
    return "\n".join([*lines, *scaling.published()])


if __name__ == "__main__":
    sys.exit(main())
