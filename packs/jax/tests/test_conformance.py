"""Chainer's conformance suite, as everybody can run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run_suite(*options: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-p", "jax_session", "--pyargs", "chainer.testing.conformance"]
    # A session of its own: not a worker of ours, and not with our configuration.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(HERE)  # of jax_session.py
    result = subprocess.run(
        [*command, "--chainer-backend=jax", *options],
        cwd=HERE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]


def test_a_sample():
    """Operations that are done in another way than elsewhere: views, indexes, layouts. The rest is
    slow."""
    names = "get_item-float32 or as_strided-float32 or softmax-float32-contiguous"
    run_suite("--chainer-quick", "-k", f"test_forward and ({names})")


@pytest.mark.slow
def test_quick():
    run_suite("--chainer-quick")


@pytest.mark.slow
def test_everything():
    run_suite()
