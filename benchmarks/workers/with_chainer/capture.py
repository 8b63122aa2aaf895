"""Training steps with Adam, as written and captured, against PyTorch's fused Adam"""

from __future__ import annotations

import chainer
from bench_case import Case, Missing
from bench_chainer import fill, integers, random, training_step
from mlp import MLP

UNIT = "us"


def batch(size):
    def prepare():
        return training_step(
            fill(MLP()), chainer.optimizers.Adam(), random(size, 784), integers(10, size)
        )

    return prepare


def captured(size):
    def prepare():
        if not hasattr(chainer, "capture"):
            raise Missing("this release has no chainer.capture")
        model, optimizer = fill(MLP()), chainer.optimizers.Adam()
        optimizer.setup(model)
        x, t = random(size, 784), integers(10, size)

        def train_step(x, t):
            loss = model(x, t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        # An error rather than the time of the step as it is written.
        step = chainer.capture(train_step, model, optimizer, on_failure="error")
        last = []

        def run():
            last[:] = [step(x, t).array]

        return Case([("", run)], lambda: [float(last[0])])

    return prepare


CASES = {"MLP batch 32 as written": batch(32), "MLP batch 32 captured": captured(32)}
