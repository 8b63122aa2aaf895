"""Chainer's conformance suite on the backends, as everybody can run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run_suite(name: str, *options: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += [
        "-p",
        "no_fallback",
        "--pyargs",
        "chainer.testing.conformance",
        f"--chainer-backend={name}",
    ]
    # A session of its own: not a worker of ours, and not with our configuration.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(HERE)  # of no_fallback.py
    result = subprocess.run(
        [*command, *options], cwd=HERE, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]


@pytest.mark.parametrize("part", ["backward", "not backward"])  # two processes take half the time
@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
def test_contract_and_outputs(name, part, need):
    """The contract, outputs and first gradients in float32; the long sequences are left out."""
    need(name)
    left_out = "not double_backward and not (n_step and backward)"
    run_suite(name, "--chainer-quick", "-k", f"({part}) and {left_out}")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
def test_everything(name, need):
    need(name)
    run_suite(name)


@pytest.mark.slow
def test_on_another_device(need):
    need("array_api_strict")
    run_suite("array_api_strict:1", "--chainer-quick")
