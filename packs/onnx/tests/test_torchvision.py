"""torchvision's own ResNet-18: load, fine-tune on digits, export, run in onnxruntime.

``python scripts/setup_peers.py --only models`` installs torchvision in ``.peers/models``;
``pytest -m slow packs/onnx/tests/test_torchvision.py`` runs these tests.
"""

from __future__ import annotations

import os
import runpy
import subprocess
from pathlib import Path

import numpy as np
import onnx_chainer
import pytest

import chainer

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PEER = ROOT / ".peers" / "models" / "bin" / "python"

#: Height and width of the images: small, so that an epoch takes seconds.
SIZE = 16

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PEER.exists(), reason="scripts/setup_peers.py --only models makes it"),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Returns a folder with the files of torchvision_models.py."""
    folder = tmp_path_factory.mktemp("torchvision")
    # The example imports Chainer, which that interpreter finds in the repository.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [str(PEER), str(HERE / "torchvision_models.py"), str(folder), str(SIZE)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("name", ["traced", "exported"])
def test_outputs_are_those_of_pytorch(written, name):
    net = onnx_chainer.load(written / f"{name}.onnx")
    with np.load(written / "expected.npz") as expected, chainer.using_config("train", False):
        y = net(expected["x"]).array
        np.testing.assert_allclose(y, expected["y"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["traced", "exported"])
def test_fine_tuning(written, name, tmp_path):
    pytest.importorskip("sklearn")
    program = runpy.run_path(str(HERE.parent / "examples" / "fine_tune.py"))
    words = ["--model", str(written / f"{name}.onnx"), "--size", str(SIZE), "--epochs", "2"]
    accuracies = program["main"]([*words, "--capture", "--out", str(tmp_path)])
    assert accuracies["chainer"] > 0.8
    assert accuracies["onnxruntime"] == pytest.approx(accuracies["chainer"], abs=1e-6)
    assert accuracies["int8"] == pytest.approx(accuracies["chainer"], abs=0.02)
