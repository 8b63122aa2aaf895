"""A long captured training that the board watches: memory, files and threads stay constant.

Run ``python tests/robustness/soak_training.py --minutes 2``. The training has snapshots, a log and
an evaluator; the board is asked for its runs twice a second, as an open page does. Figures are
taken at regular moments; the first fifth of them, while caches and files fill, does not count. With
``--minutes 1440`` it is the soak of a day.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.plugins.board.server import BoardServer
from chainer.training import extensions

#: A leak of 100 bytes in each of 1,000 iterations a second is 6 MiB a minute.
MOST_KIB_PER_MINUTE = 2048.0
_MOMENTS = 50


class Usage:
    """Figures of the process at moments.

    Attributes:
        rows: Seconds, KiB of memory, open files, threads, files in the output folder.
    """

    def __init__(self, folder: str) -> None:
        self.rows: list[tuple[float, int, int, int, int]] = []
        self._folder, self._start = folder, time.monotonic()

    def note(self) -> None:
        """Takes the figures."""
        gc.collect()
        with open("/proc/self/status", encoding="utf-8") as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        files = sum([len(names) for _, _, names in os.walk(self._folder)])
        seconds = time.monotonic() - self._start
        threads = threading.active_count()
        self.rows.append((seconds, memory, len(os.listdir("/proc/self/fd")), threads, files))

    def growth(self) -> list[float]:
        """Returns the slopes per minute: memory in KiB, open files, threads, files."""
        rows = np.array(self.rows[len(self.rows) // 5 :])
        minutes = rows[:, 0] / 60
        return [float(np.polyfit(minutes, column, 1)[0]) for column in rows.T[1:]]


class CapturedUpdater(training.StandardUpdater):
    """Updates by a captured step."""

    def __init__(self, iterator: chainer.dataset.Iterator, optimizer: chainer.Optimizer) -> None:
        super().__init__(iterator, optimizer)
        model = optimizer.target

        def step(x: chainer.Variable, t: chainer.Variable) -> chainer.Variable:
            loss = model(x, t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        self.step = chainer.capture(step, model, optimizer)

    def update_core(self) -> None:
        """Makes one update."""
        self.step(*self.converter(self.get_iterator("main").next(), self.device))


def make_trainer(out: str, stop: Callable[[training.Trainer], bool]) -> training.Trainer:
    """Returns the training."""
    rng = np.random.RandomState(0)
    data = chainer.datasets.TupleDataset(rng.rand(200, 10).astype("f"), np.arange(200) % 3)
    net = chainer.Sequential(L.Linear(10, 20), F.relu, L.Linear(20, 3))
    optimizer = chainer.optimizers.Adam().setup(L.Classifier(net))
    updater = CapturedUpdater(chainer.iterators.SerialIterator(data, 10), optimizer)
    trainer = training.Trainer(updater, stop, out=out)
    test = chainer.iterators.SerialIterator(data, 50, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test, optimizer.target), trigger=(20, "epoch"))
    trainer.extend(extensions.snapshot(n_retains=3), trigger=(20, "epoch"))
    trainer.extend(extensions.LogReport(trigger=(20, "epoch")))
    return trainer


def run(seconds: float) -> tuple[Usage, int, int]:
    """Trains for some time.

    Returns:
        tuple: The figures, the number of iterations, and the number of answers of the board.
    """
    with tempfile.TemporaryDirectory() as folder:
        usage = Usage(folder)
        end = time.monotonic() + seconds
        trainer = make_trainer(os.path.join(folder, "run"), lambda _: time.monotonic() > end)
        moments = iter(np.linspace(0, seconds, _MOMENTS + 1)[1:])
        due = [next(moments)]

        @training.make_extension(trigger=(1, "epoch"))
        def note(trainer: training.Trainer) -> None:
            if trainer.elapsed_time >= due[0]:
                usage.note()
                due[0] = next(moments, float("inf"))

        trainer.extend(note)
        answers = 0
        done = threading.Event()

        def watch(url: str) -> None:
            nonlocal answers
            while not done.wait(0.5):
                with urlopen(url + "api/runs", timeout=60) as answer:
                    answer.read()
                answers += 1

        with BoardServer(Path(folder)) as server:
            serving = threading.Thread(target=server.serve_forever, args=(0.05,))
            watching = threading.Thread(target=watch, args=(server.url,))
            serving.start()
            watching.start()
            try:
                trainer.run()
            finally:
                done.set()
                watching.join()
                server.shutdown()
                serving.join()
        assert "in use" in trainer.updater.step.explain(), trainer.updater.step.explain()
        return usage, trainer.updater.iteration, answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2.0)
    usage, iterations, answers = run(60 * parser.parse_args().minutes)
    for row in usage.rows[:: max(len(usage.rows) // 10, 1)]:
        print("{:7.1f} s {:8d} KiB {:4d} open files {:3d} threads {:3d} files".format(*row))
    memory, files, threads, left = usage.growth()
    print(
        f"{iterations} iterations, {answers} answers of the board; per minute: {memory:+.0f} KiB, "
        f"{files:+.2f} open files, {threads:+.2f} threads, {left:+.2f} files"
    )
    last = np.array([row[2:] for row in usage.rows[len(usage.rows) // 5 :]])
    spread = last.max(axis=0) - last.min(axis=0)
    # A connection of the board has a thread and a descriptor; a snapshot that is written is a file.
    return 1 if memory > MOST_KIB_PER_MINUTE or spread.max() > 4 else 0


if __name__ == "__main__":
    sys.exit(main())
