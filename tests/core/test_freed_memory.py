"""With the switch for speed, memory that arrays give back stays with the process."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

#: Makes and drops ten arrays of 1.3 MB, again and again; prints the pages taken in a round. The
#: last line is the largest resident memory in KiB.
ROUNDS = """
import resource, sys
import numpy as np
import chainer

if sys.argv[1:] == ["block"]:
    chainer.using_config("accelerate", "auto").__enter__()
for number in range(12):
    arrays = [np.ones((5000, 64), "f") for _ in range(10)]
    if number == 1:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    del arrays
usage = resource.getrusage(resource.RUSAGE_SELF)
print((usage.ru_minflt - before) // 10, usage.ru_maxrss)
"""


def _pages_and_peak(setting, *arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    environment.update(variables, CHAINER_ACCELERATE=setting)
    command = [sys.executable, "-c", ROUNDS, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    pages, peak = done.stdout.split()
    return int(pages), int(peak)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc learns from freed blocks")
class TestFreedMemory:
    def test_stays_with_the_process(self):
        without, peak = _pages_and_peak("never")
        pages, peak_with = _pages_and_peak("auto")
        assert without > 1000
        assert pages < 100
        assert peak_with < 1.1 * peak

    def test_in_a_block_of_one_thread(self):
        assert _pages_and_peak("never", "block")[0] < 100

    def test_variables_of_the_c_library_keep_their_effect(self):
        assert _pages_and_peak("auto", MALLOC_TRIM_THRESHOLD_="65536")[0] > 1000
