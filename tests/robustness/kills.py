"""Kills a training at random moments and resumes it, until it ends.

Run ``python tests/robustness/kills.py --kills 1000``. After each kill no file is unreadable; each
start removes what the killed process left; a snapshot that a synchronous writer has finished is
never lost, one of a writer in the background only if it was not complete. At the end the model and
the log are those of a training that was not interrupted, bit by bit, with dropout.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import serializers, training
from chainer.training import extensions
from chainer.training.extensions import snapshot_writers

WRITERS = ("SimpleWriter", "ThreadWriter", "ThreadQueueWriter", "ProcessQueueWriter")
ITERATIONS = 60


class Model(chainer.Chain):
    """A classifier with dropout, whose masks depend on the iteration only."""

    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(20, 60)
            self.l2 = L.Linear(60, 5)
        self.add_persistent("calls", np.array(0))

    def forward(self, x: chainer.Variable, t: chainer.Variable) -> chainer.Variable:
        np.random.seed(int(self.calls))
        self.calls += 1
        h = F.dropout(F.relu(self.l1(x)))
        loss = F.softmax_cross_entropy(self.l2(h), t)
        chainer.report({"loss": loss}, self)
        return loss


def make_trainer(out: str, writer: str, processes: bool) -> training.Trainer:
    """Returns the trainer; it continues from the latest snapshot in ``out``."""
    np.random.seed(0)
    data = chainer.datasets.TupleDataset(
        np.random.rand(64, 20).astype("f"), (np.arange(64) % 5).astype("i")
    )
    if processes:
        iterator = chainer.iterators.MultiprocessIterator(data, 8, n_processes=2, n_prefetch=2)
    else:
        iterator = chainer.iterators.SerialIterator(data, 8)
    optimizer = chainer.optimizers.Adam().setup(Model())
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (ITERATIONS, "iteration"), out=out)
    trainer.extend(extensions.LogReport(trigger=(4, "iteration")))
    trainer.extend(
        extensions.snapshot(writer=getattr(snapshot_writers, writer)(), n_retains=3, autoload=True),
        trigger=(2, "iteration"),
    )
    return trainer


def train(out: str, writer: str, processes: bool, slowly: bool) -> None:
    """Trains; the program that is killed."""
    trainer = make_trainer(out, writer, processes)
    if slowly:
        trainer.extend(lambda _: time.sleep(0.005), name="sleep", trigger=(1, "iteration"))

    def tell(trainer: training.Trainer) -> None:
        # After the snapshot, whose priority is higher: -100.
        Path(out, "progress").write_text(str(trainer.updater.iteration))

    trainer.extend(tell, name="tell", trigger=(2, "iteration"), priority=-200)
    trainer.run()
    serializers.save_npz(os.path.join(out, "model"), trainer.updater.get_optimizer("main").target)


def _log(out: str) -> list[dict[str, float]]:
    entries = json.loads(Path(out, "log").read_text())
    return [{k: v for k, v in entry.items() if k != "elapsed_time"} for entry in entries]


def _snapshots(out: str) -> dict[str, int]:
    return {
        name: int(name.rpartition("_")[2])
        for name in os.listdir(out)
        if name.startswith("snapshot_iter_")
    }


def _check(out: str, writer: str) -> None:
    """Compares what a killed process left with what its writer promises."""
    for name in _snapshots(out):
        with np.load(os.path.join(out, name), allow_pickle=True) as archive:
            for key in archive.files:
                archive[key]
    if os.path.exists(os.path.join(out, "log")):
        _log(out)
    progress = Path(out, "progress")
    if writer == "SimpleWriter" and progress.exists() and progress.read_text():
        done = int(progress.read_text())
        latest = max(_snapshots(out).values(), default=0)
        assert latest >= done, f"snapshot of iteration {done} is lost, the latest is {latest}"


def _start(out: str, writer: str, processes: bool, slowly: bool) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--train", out, "--writer", writer]
    command += ["--processes"] * processes + ["--slowly"] * slowly
    return subprocess.Popen(command, start_new_session=True)


def run(kills: int, writer: str, processes: bool, seed: int) -> dict[str, int]:
    """Kills trainings a number of times.

    Args:
        kills: Number of kills.
        writer: Class of the writer of snapshots.
        processes: Whether a MultiprocessIterator runs.
        seed: Seed of the moments.

    Returns:
        dict: Number of kills, of trainings that came to their end, and of leftovers removed.
    """
    rng = random.Random(seed)
    counts = {"kills": 0, "ends": 0, "leftovers": 0}
    with tempfile.TemporaryDirectory() as parent:
        reference = os.path.join(parent, "reference")
        assert _start(reference, writer, processes, False).wait() == 0
        expected = Path(reference, "model").read_bytes(), _log(reference)
        number = 0
        while counts["kills"] < kills:
            out = os.path.join(parent, f"out{number}")
            number += 1
            start = time.monotonic()
            while True:
                child = _start(out, writer, processes, True)
                # Wait for the begin of the training first: the import takes longer than that.
                seen = Path(out, "progress").stat().st_mtime_ns if _exists(out) else 0
                while child.poll() is None and not _moved(out, seen):
                    time.sleep(0.002)
                try:
                    child.wait(rng.random() * 0.4)
                except subprocess.TimeoutExpired:
                    os.kill(child.pid, signal.SIGKILL)
                    child.wait()
                    counts["kills"] += 1
                    counts["leftovers"] += sum([n.endswith(".tmp") for n in os.listdir(out)])
                    _check(out, writer)
                    continue
                assert child.returncode == 0, child.returncode
                break
            counts["ends"] += 1
            left = [name for name in os.listdir(out) if name.startswith(".")]
            assert not left, left
            assert Path(out, "model").read_bytes() == expected[0], "another model"
            assert _log(out) == expected[1], "another log"
            assert time.monotonic() - start < 600
    return counts


def _exists(out: str) -> bool:
    return os.path.exists(os.path.join(out, "progress"))


def _moved(out: str, seen: int) -> bool:
    return _exists(out) and Path(out, "progress").stat().st_mtime_ns != seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="for all writers together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--train", metavar="OUT", help=argparse.SUPPRESS)
    parser.add_argument("--writer", default="SimpleWriter", help=argparse.SUPPRESS)
    parser.add_argument("--processes", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--slowly", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        warnings.simplefilter("error")
        train(options.train, options.writer, options.processes, options.slowly)
        return
    cases = [(writer, processes) for writer in WRITERS for processes in (False, True)]
    for writer, processes in cases:
        counts = run(options.kills // len(cases), writer, processes, options.seed)
        print(writer, "with MultiprocessIterator" if processes else "", counts, flush=True)


if __name__ == "__main__":
    main()
