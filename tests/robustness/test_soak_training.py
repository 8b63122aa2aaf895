"""Two seconds of the soak; ``python tests/robustness/soak_training.py`` runs longer."""

from __future__ import annotations

import sys

import pytest

from tests.robustness import soak_training


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_threads_and_files_stay():
    usages, iterations, answers = soak_training.run(2.5)
    (usage,) = usages.values()
    assert iterations > 10 and answers
    threads = [row[3] for row in usage.rows]
    files = [row[2] for row in usage.rows]
    assert max(threads) - threads[0] <= 2
    assert max(files) - files[0] <= 4


def test_growth_is_per_minute(tmp_path):
    usage = soak_training.Usage(str(tmp_path))
    usage.rows = [(30.0 * i, 1000 + 60 * i, 5, 2, 0) for i in range(10)]
    assert usage.growth() == pytest.approx([120, 0, 0, 0], abs=1e-6)


def test_files_that_come_and_go_do_not_grow(tmp_path):
    usage = soak_training.Usage(str(tmp_path))
    usage.rows = [(30.0 * i, 1000, 5, 2, 20 + i % 5) for i in range(40)]
    assert usage.more_files() == 0
    usage.rows = [(30.0 * i, 1000, 5, 2, 20 + i) for i in range(40)]
    assert usage.more_files() == 16
