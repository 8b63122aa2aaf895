"""Times of a training step on the arrays of NumPy and of the backends, in one run.

    python benchmarks/train_step.py [BACKEND ...]

Steps of all backends alternate, and the median counts. One thread: set OMP_NUM_THREADS=1 for
NumPy's library; PyTorch is told here.
"""

from __future__ import annotations

import statistics
import sys
import time

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import optimizers


def mlp(units: int) -> chainer.Link:
    return chainer.Sequential(L.Linear(784, units), F.relu, L.Linear(units, 10))


def cnn() -> chainer.Link:
    return chainer.Sequential(
        *(L.Convolution2D(1, 16, 3, pad=1), F.relu, lambda x: F.max_pooling_2d(x, 2)),
        *(L.Convolution2D(16, 32, 3, pad=1), F.relu, lambda x: F.max_pooling_2d(x, 2)),
        L.Linear(1568, 10),
    )


CASES = {
    "784-50-10 perceptron, 32 samples": (lambda: mlp(50), (32, 784)),
    "784-1000-10 perceptron, 100 samples": (lambda: mlp(1000), (100, 784)),
    "two convolutions, 32 samples": (cnn, (32, 1, 28, 28)),
}


class Run:
    """A model in training on one backend."""

    def __init__(self, name: str, make, shape) -> None:
        device = chainer.get_device(f"@{name}")
        np.random.seed(0)
        self.model = L.Classifier(make()).to_device(device)
        self.optimizer = optimizers.Adam().setup(self.model)
        random = np.random.RandomState(1)
        self.x = device.send(random.uniform(size=shape).astype(np.float32))
        self.t = device.send((np.arange(shape[0]) % 10).astype(np.int32))
        self.times: list[float] = []

    def step(self) -> None:
        start = time.perf_counter()
        self.optimizer.update(self.model, self.x, self.t)
        self.times.append(time.perf_counter() - start)


def main(names: list[str]) -> None:
    if "torch" in names:
        import torch

        torch.set_num_threads(1)
    print(f"{'training step with Adam':38}{'numpy':>10}" + "".join(f"{n:>26}" for n in names))
    for title, (make, shape) in CASES.items():
        runs = {name: Run(name, make, shape) for name in ["numpy", *names]}
        for _ in range(15):
            for run in runs.values():
                run.step()
        times = {name: statistics.median(run.times[3:]) * 1e3 for name, run in runs.items()}
        cells = [f"{times[n]:9.2f} ms ({times[n] / times['numpy']:5.2f} x)" for n in names]
        print(f"{title:38}{times['numpy']:7.2f} ms" + "".join(f"{cell:>26}" for cell in cells))


if __name__ == "__main__":
    main(sys.argv[1:] or ["torch", "array_api_strict"])
