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


_END = """
import os, signal, sys
from tests.backends.cupy.test_nccl import make_updater
updater = make_updater([0, 1])
updater.update()
process = updater._workers[0]._process
if sys.argv[1] == "killed":
    os.kill(process.pid, signal.SIGKILL)
    process.join()
updater.finalize()
print(process.exitcode)
"""


def run_program(program, *arguments):
    """Runs it in a process of its own, which has not used CUDA before it starts others."""
    finished = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    return finished.stdout


def run(*devices):
    return [np.array(line.split(), "f") for line in run_program(_PROGRAM, *devices).splitlines()]


def test_same_as_on_the_host():
    if nccl.missing() is not None:
        pytest.skip(nccl.missing())
    for actual, expected in zip(run(0, 1), run(-1, -1), strict=True):
        np.testing.assert_allclose(actual, expected, 2e-3, 1e-3)


@pytest.mark.parametrize(("end", "code"), [("orderly", 0), ("killed", -9)])
def test_end(end, code):
    """The processes end their link at a time, and wait for none that is gone."""
    if nccl.missing() is not None:
        pytest.skip(nccl.missing())
    assert int(run_program(_END, end).split()[-1]) == code
