"""Batches of 64 images (3x64x64, uint8 to float32) as arrays, ms a batch

DataLoader has no threads: rows of threads are compared with its processes.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from bench_case import Case
from torch.utils.data import DataLoader, Dataset, TensorDataset

UNIT = "ms"
MEASURED = True

BATCH_SIZE = 64
EXAMPLES = 640
BATCHES_PER_SAMPLE = 60
FIRST_BATCHES = 6


class Images(Dataset):
    """Images of bytes, each converted when it is read."""

    def __init__(self):
        generator = np.random.RandomState(0)
        self.images = torch.from_numpy(
            generator.randint(0, 256, (EXAMPLES, 3, 64, 64)).astype(np.uint8)
        )

    def __len__(self):
        return EXAMPLES

    def __getitem__(self, i):
        return self.images[i].float(), i


def in_memory():
    return TensorDataset(Images().images.float(), torch.arange(EXAMPLES))


def batches(make_dataset, workers):
    """Returns the preparation of a case."""

    def prepare():
        loader = DataLoader(
            make_dataset(),
            BATCH_SIZE,
            shuffle=True,
            num_workers=workers,
            persistent_workers=workers > 0,
            prefetch_factor=2 if workers else None,
        )

        def endless():
            while True:
                yield from loader

        iterator = endless()

        def measure(*_):
            for _ in range(FIRST_BATCHES):
                x, t = next(iterator)
            start = time.perf_counter()
            for _ in range(BATCHES_PER_SAMPLE):
                x, t = next(iterator)
            seconds = (time.perf_counter() - start) / BATCHES_PER_SAMPLE
            assert x.shape == (BATCH_SIZE, 3, 64, 64) and x.dtype == torch.float32
            assert len(t) == BATCH_SIZE
            return seconds

        return Case([("", measure)])

    return prepare


CASES = {
    "no workers": batches(Images, 0),
    "no workers, in memory": batches(in_memory, 0),
    "1 thread": batches(Images, 1),
    "2 threads": batches(Images, 2),
    "1 process": batches(Images, 1),
    "2 processes": batches(Images, 2),
}
