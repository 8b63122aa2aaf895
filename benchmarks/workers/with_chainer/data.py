"""Batches of 64 images (3x64x64, uint8 to float32) as arrays, ms a batch

The examples are pairs of an image and a label. Reading an example converts its image, as datasets of
image files do; ``in memory`` has arrays of float32, as datasets that fit into memory do. Each sample
is the mean of many batches after the first ones, because workers read ahead.
"""

from __future__ import annotations

import time

import chainer
import numpy as np
from bench_case import Case
from chainer import iterators

UNIT = "ms"
MEASURED = True
#: Not pinned to one processor.
PROCESSES = ["MultiprocessIterator"]
BUDGETS = {"torch": 1.0, "upstream": 1.0}

BATCH_SIZE = 64
EXAMPLES = 640
BATCHES_PER_SAMPLE = 60
FIRST_BATCHES = 6


class Images(chainer.dataset.DatasetMixin):
    """Images of bytes, each converted when it is read."""

    def __init__(self):
        generator = np.random.RandomState(0)
        self.images = generator.randint(0, 256, (EXAMPLES, 3, 64, 64)).astype(np.uint8)

    def __len__(self):
        return EXAMPLES

    def get_example(self, i):
        return self.images[i].astype(np.float32), np.int32(i)


def in_memory():
    images = Images().images.astype(np.float32)
    return chainer.datasets.TupleDataset(images, np.arange(EXAMPLES, dtype=np.int32))


def batches(make_dataset, make_iterator):
    """Returns the preparation of a case."""

    def prepare():
        iterator = make_iterator(make_dataset())
        sums = []

        def measure(*_):
            for _ in range(FIRST_BATCHES):
                x, t = chainer.dataset.concat_examples(iterator.next())
            start = time.perf_counter()
            for _ in range(BATCHES_PER_SAMPLE):
                x, t = chainer.dataset.concat_examples(iterator.next())
            seconds = (time.perf_counter() - start) / BATCHES_PER_SAMPLE
            assert x.shape == (BATCH_SIZE, 3, 64, 64) and x.dtype == np.float32
            assert len(t) == BATCH_SIZE
            sums.append(float(iterator.epoch_detail))
            return seconds

        return Case([("", measure)], lambda: sums[:1])

    return prepare


def multithread(n_threads):
    return lambda dataset: iterators.MultithreadIterator(dataset, BATCH_SIZE, n_threads=n_threads)


def multiprocess(n_processes):
    return lambda dataset: iterators.MultiprocessIterator(
        dataset, BATCH_SIZE, n_processes=n_processes, n_prefetch=2
    )


def serial(dataset):
    return iterators.SerialIterator(dataset, BATCH_SIZE)


CASES = {
    "no workers": batches(Images, serial),
    "no workers, in memory": batches(in_memory, serial),
    "1 thread": batches(Images, multithread(1)),
    "2 threads": batches(Images, multithread(2)),
    "1 process": batches(Images, multiprocess(1)),
    "2 processes": batches(Images, multiprocess(2)),
}
