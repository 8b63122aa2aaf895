"""The example program, run as its reader would, twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from chainer.training.extensions import list_best
from tests.examples.programs import EXAMPLES

PROGRAM = EXAMPLES / "digits" / "train_with_extensions.py"


def run(*arguments):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_train_digits(tmp_path):
    pytest.importorskip("sklearn", reason="the digits come with scikit-learn")
    first = run("--out", str(tmp_path), "--epoch", "2")
    assert [line.split("  ")[2] for line in first[:2]] == ["iteration 22", "iteration 43"]
    assert first[2] == "end: 2 epochs"
    second = run("--out", str(tmp_path), "--epoch", "3")
    assert second[0].split("  ")[2] == "iteration 64"
    assert second[1] == "end: 3 epochs"
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert len(list_best(str(tmp_path))) == 3
    accuracy = float(second[-1].rsplit(maxsplit=1)[1])
    assert accuracy > 0.85
