import json

import numpy as np
import pytest

from tests.examples.programs import run, table

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")
PROGRAM = "digits/train_digits.py"


@pytest.mark.slow
def test_resumed_training_equals_an_uninterrupted_one(tmp_path):
    args = ["-e", 4, "-u", 32]
    out = run(PROGRAM, *args, "-o", "whole", cwd=tmp_path)
    assert len(table(out)) == 4
    run(PROGRAM, *args, "--stop-after", 2, "-o", "parts", cwd=tmp_path)
    out = run(PROGRAM, *args, "--resume", "-o", "parts", cwd=tmp_path)
    assert "going on from parts/snapshot.npz: epoch 2" in out
    with np.load(tmp_path / "whole/model.npz") as a, np.load(tmp_path / "parts/model.npz") as b:
        assert sorted(a) == sorted(b)
        assert len(a.files) == 6
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])
    log = json.loads((tmp_path / "parts" / "log").read_text())
    assert [entry["epoch"] for entry in log] == [1, 2, 3, 4]
    assert log[-1]["validation/main/accuracy"] > 0.8
    for name in ("loss.png", "accuracy.png", "cg.dot"):
        assert (tmp_path / "parts" / name).stat().st_size > 0
