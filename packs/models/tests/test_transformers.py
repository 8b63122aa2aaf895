"""transformers itself: its numbers are the stored ones, and it reads what is written here.

``make test-models`` installs it in ``.peers/models`` and runs these tests.
"""

import json
import os
import subprocess
from pathlib import Path

import chainer
import numpy as np
import pytest
from our_outputs import output_of
from published import REFERENCE, write_folder
from reference_models import CASES, some
from test_pitfalls import TORCHVISION, check_torchvision
from test_reference import rounded

import chainer_models as cm

HERE = Path(__file__).parent
PEER = HERE.parents[2] / ".peers" / "models" / "bin" / "python"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PEER.exists(), reason="scripts/setup_peers.py --only models makes it"),
]


def run(*arguments):
    """Runs a program with transformers, offline."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(PEER), *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_stored_numbers(tmp_path):
    out = tmp_path / "reference.json"
    run(HERE / "make_reference.py", "--out", out)
    found = json.loads(out.read_text())
    assert list(found) == list(REFERENCE) == list(CASES)
    for case, expected in REFERENCE.items():
        assert found[case]["shapes"] == expected["shapes"]
        np.testing.assert_allclose(
            found[case]["output"]["some"],
            expected["output"]["some"],
            atol=max(1e-4, 1e-5 * expected["output"]["largest"]),
            err_msg=case,
        )
        assert found[case].get("greedy") == expected.get("greedy")


def test_transformers_reads_what_is_written_here(tmp_path):
    for case in CASES:
        model = cm.load_pretrained(write_folder(tmp_path / "read" / case, case))
        cm.save_pretrained(model, tmp_path / "written" / case, max_shard_size="20KB")
    found = json.loads(run(HERE / "read_saved.py", tmp_path / "written"))
    assert set(found) == set(CASES)
    for case, result in found.items():
        assert result["missing"] == result["unexpected"] == [], case
        np.testing.assert_allclose(
            result["some"],
            REFERENCE[case]["output"]["some"],
            atol=max(1e-4, 1e-5 * REFERENCE[case]["output"]["largest"]),
            err_msg=case,
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_shards_of_other_types(dtype, tmp_path):
    outputs = {}
    for case in CASES:
        tensors = rounded(case, dtype)
        folder = write_folder(tmp_path / case, case, tensors, shards=3)
        with chainer.using_config("train", False):
            outputs[case] = output_of(case, cm.load_pretrained(folder)).array
    found = json.loads(run(HERE / "read_saved.py", tmp_path))
    assert set(found) == set(CASES)
    for case, output in outputs.items():
        assert found[case]["missing"] == found[case]["unexpected"] == [], case
        np.testing.assert_allclose(
            some(output, 40),
            found[case]["some"],
            atol=max(1e-4, 1e-5 * np.abs(output).max()),
            err_msg=case,
        )


def test_torchvision_is_built_for_the_installed_pytorch():
    found = json.loads(run(HERE / "read_torchvision.py"))
    check_torchvision(found)
    np.testing.assert_allclose(found["roi_align"], TORCHVISION["roi_align"], rtol=1e-5, atol=1e-6)
