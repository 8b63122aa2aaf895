"""Trainer with LogReport and PrintReport at each iteration, at the beginning and at the end of a run

The cost should not depend on the number of entries in the log. The updater does nothing, so that
all of the time is that of the trainer and of the two. Each sample is the mean of a thousand
iterations. Release 7 writes the whole log at each iteration: it is measured in the shortest run
only.

The third row is a run with a snapshot of the trainer at each hundredth iteration. A snapshot
contains 10,000 entries of the log: the first thousand is the one after as many iterations. Here the
time is most of all that of the disk, which varies: it is that of the fastest of ten parts of each
thousand.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time

import chainer
from bench_case import Case, Missing
from chainer import training
from chainer.training import extensions

UNIT = "us"
MEASURED = True
LENGTHS = (3_000, 100_000)
COUNTED = 1_000
#: Iterations between two snapshots, and the length of the run with snapshots.
INTERVAL = 100
WITH_SNAPSHOTS = 30_000
#: Entries that a snapshot contains at most.
IN_SNAPSHOT = 10_000
BUDGETS = {"upstream": {"3,000 iterations": 1.0}}
ROW_BUDGETS = [
    ["100,000 iterations last thousand", "100,000 iterations first thousand", 1.1],
    ["30,000 with snapshots last thousand", "30,000 with snapshots first thousand", 1.1],
]


class Idle(training.Updater):
    """Counts iterations, a hundred an epoch."""

    iteration = 0

    def get_all_optimizers(self):
        return {}

    @property
    def epoch(self):
        return self.iteration // 100

    @property
    def epoch_detail(self):
        return self.iteration / 100.0

    @property
    def previous_epoch_detail(self):
        return (self.iteration - 1) / 100.0

    def update(self):
        self.iteration += 1
        chainer.report({"loss": 1.0 / self.iteration, "accuracy": 0.5})

    def finalize(self):
        pass

    def serialize(self, serializer):
        pass


def run(length, snapshots=False):
    """Trains; returns the times at which the iterations ended."""
    out = tempfile.mkdtemp()
    printed = open(os.devnull, "w")
    times = []
    try:
        trainer = training.Trainer(Idle(), (length, "iteration"), out=out)
        trainer.extend(extensions.LogReport(trigger=(1, "iteration")))
        table = extensions.PrintReport(["epoch", "loss", "accuracy"], out=printed)
        trainer.extend(table, trigger=(1, "iteration"))
        if snapshots:
            snapshot = extensions.snapshot(filename="snapshot")
            trainer.extend(snapshot, trigger=(INTERVAL, "iteration"))
        trainer.extend(
            lambda trainer: times.append(time.perf_counter()),
            name="clock",
            priority=-1000,
            trigger=(1, "iteration"),
        )
        trainer.run()
    finally:
        printed.close()
        shutil.rmtree(out)
    return times


def first_and_last(length):
    """Returns the times per iteration of the first and the last thousand."""
    times = run(length)
    parts = times[: COUNTED + 1], times[-COUNTED - 1 :]
    return [(part[-1] - part[0]) / COUNTED for part in parts]


def first_and_last_with_snapshots(length):
    """Returns the times per iteration of the thousand after the limit and of the last one."""
    times = run(length, snapshots=True)
    spans = [b - a for a, b in zip(times[::INTERVAL], times[INTERVAL::INTERVAL])]
    count = COUNTED // INTERVAL
    start = IN_SNAPSHOT // INTERVAL
    return [min(part) / INTERVAL for part in (spans[start : start + count], spans[-count:])]


def training_of(length, measure):
    """Returns the preparation of the case with runs of that many iterations."""

    def prepare():
        if length > min(LENGTHS) and int(chainer.__version__.split(".")[0]) < 8:
            raise Missing("takes an hour")
        measured = []

        def first(*_):
            measured[:] = measure(length)
            return measured[0]

        return Case([("first thousand", first), ("last thousand", lambda *_: measured[1])])

    return prepare


CASES = {
    "{:,} iterations".format(length): training_of(length, first_and_last) for length in LENGTHS
}
CASES["{:,} with snapshots".format(WITH_SNAPSHOTS)] = training_of(
    WITH_SNAPSHOTS, first_and_last_with_snapshots
)
