"""NCCL between two GPUs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chainer.backends.cupy import nccl
from chainer.testing import attr

pytestmark = [
    pytest.mark.multi_gpu(2),
    pytest.mark.skipif(attr.gpu_limit() < 2, reason="needs two GPUs"),
]

ROOT = Path(__file__).resolve().parents[3]

_PROGRAM = """
import sys, numpy as np, chainer
from tests.backends.cupy.test_nccl import make_updater
devices = [int(device) for device in sys.argv[1:]]
updater = make_updater(devices)
for _ in range(5):
    updater.update()
updater.finalize()
model = updater.get_optimizer("main").target
model.to_device("@numpy")
for name, param in sorted(model.namedparams(False)):
    print(*param.array.astype("f").ravel())
"""


def run(*devices):
    """Trains in a process of its own, which has not used CUDA before it starts others."""
    finished = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, devices)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    return [np.array(line.split(), "f") for line in finished.stdout.splitlines()]


def test_same_as_on_the_host():
    if nccl.missing() is not None:
        pytest.skip(nccl.missing())
    for actual, expected in zip(run(0, 1), run(-1, -1), strict=True):
        np.testing.assert_allclose(actual, expected, 2e-3, 1e-3)
