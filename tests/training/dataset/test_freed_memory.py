"""The memory of batches is used again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
import chainer

class Images(chainer.dataset.DatasetMixin):
    images = np.random.randint(0, 256, (640, 3, 64, 64)).astype(np.uint8)

    def __len__(self):
        return 640

    def get_example(self, i):
        return self.images[i].astype(np.float32), np.int32(i)

iterator = chainer.iterators.SerialIterator(Images(), 64)

def batch():
    return chainer.dataset.concat_examples(iterator.next())

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

for _ in range(3):
    x, t = batch()
counts = []
for _ in range(20):
    before = faults()
    x, t = batch()
    counts.append(faults() - before)
# The system may take pages away meanwhile.
print(sorted(counts)[10])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs the C library of GNU")
def test_pages_of_a_batch_are_not_taken_again():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    # A batch has 768 pages, and so have its examples.
    assert float(done.stdout) < 50
