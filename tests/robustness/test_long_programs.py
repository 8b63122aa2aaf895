"""The long programs of this folder, for a short time. CONTRIBUTING.md has their commands."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, str(HERE / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_fuzz():
    run("fuzz", "--calls", "1000", "--seed", "3")


@pytest.mark.slow
def test_fuzz_of_all_kinds():
    run("fuzz", "--kind", "all", "--calls", "300")


@pytest.mark.slow
def test_kills():
    assert "ProcessQueueWriter with MultiprocessIterator" in run("kills", "--kills", "10")


@pytest.mark.slow
def test_soak():
    run("soak", "--epochs", "50")
