"""Chainer's conformance suite with the provider on, as everybody can run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run_suite(*options: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-p", "any_size", "--pyargs", "chainer.testing.conformance"]
    command += ["--chainer-provider=numba"]
    # A session of its own: not a worker of ours, and not with our configuration.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(HERE)  # of any_size.py
    result = subprocess.run(
        [*command, *options], cwd=HERE, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]


@pytest.mark.parametrize("part", ["backward", "not backward"])  # two processes take half the time
def test_contract_outputs_and_gradients(part):
    """The contract, outputs and gradients in float32."""
    run_suite("--chainer-quick", "-k", f"({part}) and not double_backward")


@pytest.mark.slow
def test_everything():
    run_suite()
