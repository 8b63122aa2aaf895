"""Trainer with LogReport and PrintReport at each iteration, at the beginning and at the end of a run

The cost should not depend on the number of entries in the log. The updater does nothing, so that
all of the time is that of the trainer and of the two. Each sample is the mean of a thousand
iterations. Release 7 writes the whole log at each iteration: it is measured in the shortest run
only.
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
BUDGETS = {"upstream": {"3,000 iterations": 1.0}}
ROW_BUDGETS = [["100,000 iterations last thousand", "100,000 iterations first thousand", 1.1]]


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


def run(length):
    """Trains; returns the times per iteration of the first and the last thousand."""
    out = tempfile.mkdtemp()
    printed = open(os.devnull, "w")
    times = []
    try:
        trainer = training.Trainer(Idle(), (length, "iteration"), out=out)
        trainer.extend(extensions.LogReport(trigger=(1, "iteration")))
        table = extensions.PrintReport(["epoch", "loss", "accuracy"], out=printed)
        trainer.extend(table, trigger=(1, "iteration"))
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
    first, last = times[: COUNTED + 1], times[-COUNTED - 1 :]
    return [(part[-1] - part[0]) / COUNTED for part in (first, last)]


def training_of(length):
    """Returns the preparation of the case with runs of that many iterations."""

    def prepare():
        if length > min(LENGTHS) and int(chainer.__version__.split(".")[0]) < 8:
            raise Missing("takes an hour")
        measured = []

        def first(*_):
            measured[:] = run(length)
            return measured[0]

        return Case([("first thousand", first), ("last thousand", lambda *_: measured[1])])

    return prepare


CASES = {"{:,} iterations".format(length): training_of(length) for length in LENGTHS}
