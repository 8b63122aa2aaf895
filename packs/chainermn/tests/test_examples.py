"""The examples run in two processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from chainermn.launching.finding import LaunchError, find_launcher

EXAMPLES = Path(__file__).parents[1] / "examples"
SECONDS = 240


def run(tmp_path, name, *arguments):
    try:
        find_launcher()
    except LaunchError as error:
        pytest.skip(f"no MPI: {error}")
    command = [sys.executable, str(EXAMPLES / name), "--launch", "2", "--out", str(tmp_path)]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=SECONDS, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "log").read_text())


@pytest.mark.slow
def test_mnist(tmp_path):
    pytest.importorskip("sklearn")
    log = run(tmp_path, "train_mnist.py", "--data", "digits", "-e", "4", "-u", "50", "-b", "25")
    assert log[-1]["validation/main/accuracy"] > 0.7
    assert {path.name for path in tmp_path.iterdir()} == {"log", "model.npz"}


@pytest.mark.slow
def test_language_model(tmp_path):
    arguments = ["-i", "30", "-b", "8", "-u", "32", "--length", "16"]
    log = run(tmp_path, "train_language_model.py", *arguments)
    assert log[-1]["main/loss"] < log[0]["main/loss"] - 0.5
