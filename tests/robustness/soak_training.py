"""A long captured training that the board watches: memory, files and threads stay constant.

Run ``python tests/robustness/soak_training.py --minutes 2``. The training has snapshots, a log and
an evaluator; the board is asked for its runs twice a second, as an open page does. Beside it, if
chainermn is installed, ``chainer launch`` trains in two processes with checkpoints. Figures are
taken at regular moments, of the launcher and its processes too; the first fifth of them, while
caches and files fill, does not count. With ``--minutes 1440`` it is the soak of a day.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
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
    """Figures of a process at moments.

    Args:
        folder: Output folder of the training.
        process: Number of the process; this one by default.

    Attributes:
        rows: Seconds, KiB of memory, open files, threads, files in the output folder.
    """

    def __init__(self, folder: str, process: int | None = None) -> None:
        self.rows: list[tuple[float, int, int, int, int]] = []
        self._folder, self._start = folder, time.monotonic()
        self._process = os.getpid() if process is None else process

    def note(self) -> None:
        """Takes the figures."""
        if self._process == os.getpid():
            gc.collect()
        with open(f"/proc/{self._process}/status", encoding="utf-8") as file:
            lines = dict(line.split(":", 1) for line in file)
        memory, threads = int(lines["VmRSS"].split()[0]), int(lines["Threads"])
        files = sum([len(names) for _, _, names in os.walk(self._folder)])
        seconds = time.monotonic() - self._start
        opened = len(os.listdir(f"/proc/{self._process}/fd"))
        self.rows.append((seconds, memory, opened, threads, files))

    def counted(self) -> list[tuple[float, int, int, int, int]]:
        """Returns the rows without the first fifth, in which caches and files fill."""
        return self.rows[len(self.rows) // 5 :]

    def growth(self) -> list[float]:
        """Returns the slopes per minute: memory in KiB, open files, threads, files."""
        rows = np.array(self.counted())
        minutes = rows[:, 0] / 60
        return [float(np.polyfit(minutes, column, 1)[0]) for column in rows.T[1:]]

    def spread(self) -> int:
        """Returns by how much the number of open files or threads varies at most."""
        rows = np.array(self.counted())[:, 2:4]
        return int((rows.max(axis=0) - rows.min(axis=0)).max())

    def more_files(self) -> int:
        """Returns by how many output files the second half has more than the first, at most.

        Snapshots are removed in groups, so that their number goes up and down all the time.
        """
        files = np.array(self.counted())[:, 4]
        half = len(files) // 2
        return int(files[half:].max() - files[:half].max())


class Job:
    """A training in two processes that ``chainer launch`` watches, beside the captured one.

    Args:
        folder: Its output folder.
        seconds: How long it trains.

    Attributes:
        usage: Figures of the launcher and of the two processes, by what they are.
    """

    def __init__(self, folder: str, seconds: float) -> None:
        self.usage: dict[str, Usage] = {}
        self._folder = folder
        os.mkdir(folder)
        self._launcher = subprocess.Popen(
            [
                *(sys.executable, "-m", "chainer.plugins.cli", "launch", "-n", "2"),
                *(__file__, "--rank", folder, "--minutes", str(seconds / 60)),
            ]
        )

    def note(self) -> None:
        """Takes the figures of the processes that train by now."""
        for path in Path(self._folder).glob("rank-*"):
            self.usage.setdefault(path.stem, Usage(self._folder, int(path.read_text())))
        if self.usage:
            self.usage.setdefault("launcher", Usage(self._folder, self._launcher.pid))
        for usage in self.usage.values():
            usage.note()

    def end(self) -> int:
        """Waits for the end; returns the exit status."""
        return self._launcher.wait(300)


def train_rank(folder: str, seconds: float) -> None:
    """Trains in one of the processes of ``chainer launch``."""
    import chainermn

    communicator = chainermn.create_communicator("naive")
    end = time.monotonic() + seconds

    def stop(_: training.Trainer) -> bool:
        # All processes have to agree, or one waits for the others.
        return communicator.allreduce_obj(int(time.monotonic() > end)) > 0

    trainer = make_trainer(folder, stop, captured=False)
    chainermn.distribute(trainer, communicator)
    checkpointer = chainermn.create_multi_node_checkpointer("soak", communicator, path=folder)
    trainer.extend(checkpointer, trigger=(20, "epoch"))
    Path(folder, f"rank-{communicator.rank}").write_text(str(os.getpid()))
    trainer.run()


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


def make_trainer(
    out: str, stop: Callable[[training.Trainer], bool], captured: bool = True
) -> training.Trainer:
    """Returns the training."""
    rng = np.random.RandomState(0)
    data = chainer.datasets.TupleDataset(rng.rand(200, 10).astype("f"), np.arange(200) % 3)
    net = chainer.Sequential(L.Linear(10, 20), F.relu, L.Linear(20, 3))
    optimizer = chainer.optimizers.Adam().setup(L.Classifier(net))
    make = CapturedUpdater if captured else training.StandardUpdater
    updater = make(chainer.iterators.SerialIterator(data, 10), optimizer)
    trainer = training.Trainer(updater, stop, out=out)
    test = chainer.iterators.SerialIterator(data, 50, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test, optimizer.target), trigger=(20, "epoch"))
    trainer.extend(extensions.snapshot(n_retains=3), trigger=(20, "epoch"))
    trainer.extend(extensions.LogReport(trigger=(20, "epoch")))
    return trainer


def run(seconds: float, launch: bool = False) -> tuple[dict[str, Usage], int, int]:
    """Trains for some time.

    Args:
        seconds: How long.
        launch: Whether ``chainer launch`` trains beside it in two processes.

    Returns:
        tuple: The figures by process, the number of iterations, and the number of answers of the
        board.
    """
    with tempfile.TemporaryDirectory() as folder:
        usage = Usage(folder)
        job = Job(os.path.join(folder, "job"), seconds) if launch else None
        end, answers = time.monotonic() + seconds, 0

        def is_over(trainer: training.Trainer) -> bool:
            # On a machine with many other programs the first answer and steps may take longer.
            late = time.monotonic() - end
            return late > 0 and (late > 120 or (answers > 0 and trainer.updater.iteration > 40))

        trainer = make_trainer(os.path.join(folder, "run"), is_over)
        moments = iter(np.linspace(0, seconds, _MOMENTS + 1)[1:])
        due = [next(moments)]

        @training.make_extension(trigger=(1, "epoch"))
        def note(trainer: training.Trainer) -> None:
            if trainer.elapsed_time >= due[0]:
                usage.note()
                if job is not None:
                    job.note()
                due[0] = next(moments, float("inf"))

        trainer.extend(note)
        done = threading.Event()

        def watch(url: str) -> None:
            nonlocal answers
            while not done.wait(0.5):
                try:
                    with urlopen(url + "api/runs", timeout=60) as answer:
                        answer.read()
                except (OSError, HTTPException):
                    continue  # where other programs keep the cores busy for 20 seconds
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
        assert job is None or job.end() == 0
        assert "in use" in trainer.updater.step.explain(), trainer.updater.step.explain()
        usages = {"training": usage} | ({} if job is None else job.usage)
        return usages, trainer.updater.iteration, answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument(
        "--launch",
        action=argparse.BooleanOptionalAction,
        default=importlib.util.find_spec("chainermn") is not None,
    )
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank:
        train_rank(options.rank, 60 * options.minutes)
        return 0
    usages, iterations, answers = run(60 * options.minutes, options.launch)
    print(f"{iterations} iterations, {answers} answers of the board")
    bad = False
    for name, usage in usages.items():
        for row in usage.rows[:: max(len(usage.rows) // 10, 1)]:
            print("{:7.1f} s {:8d} KiB {:4d} open files {:3d} threads {:3d} files".format(*row))
        memory, files, threads, left = usage.growth()
        print(
            f"{name}: per minute {memory:+.0f} KiB, {files:+.2f} open files, "
            f"{threads:+.2f} threads, {left:+.2f} files"
        )
        # A connection of the board has a thread and a descriptor; a snapshot that is written is a
        # file.
        bad |= memory > MOST_KIB_PER_MINUTE or max(usage.spread(), usage.more_files()) > 6
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
