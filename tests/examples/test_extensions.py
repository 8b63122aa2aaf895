import json

import numpy as np
import pytest

from tests.examples.programs import run

pytest.importorskip("sklearn")
SHIFT = "extensions/polynomial_shift.py"


def rates(path):
    return [entry["lr"] for entry in json.loads((path / "log").read_text())]


@pytest.mark.slow
def test_polynomial_shift_and_resume(tmp_path):
    run(SHIFT, "-e", 6, "-o", "whole", cwd=tmp_path)
    run(SHIFT, "-e", 6, "--stop-after", 3, "-o", "parts", cwd=tmp_path)
    run(SHIFT, "-e", 6, "-r", "parts/snapshot.npz", "-o", "parts", cwd=tmp_path)
    whole = rates(tmp_path / "whole")
    assert whole == sorted(whole, reverse=True)
    # 1347 images in batches of 32: an epoch ends at a multiple of 1347 / 32, rounded up
    t = np.ceil(np.arange(1, 7) * 1347 / 32) * 32 / (6 * 1347)
    # observe_lr writes before or after the shift: within one iteration of the formula
    np.testing.assert_allclose(whole[:5], 0.1 * np.sqrt(1 - t[:5]), atol=0.002)
    assert rates(tmp_path / "parts") == whole
    with np.load(tmp_path / "whole/model.npz") as a, np.load(tmp_path / "parts/model.npz") as b:
        assert sorted(a) == sorted(b)
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])


@pytest.mark.parametrize("shift", ["function", "decorated"])
def test_functions(tmp_path, shift):
    run(SHIFT, "-e", 11, "--shift", shift, "-b", 200, cwd=tmp_path)
    np.testing.assert_allclose(rates(tmp_path / "result")[-1], 0.01)
    assert rates(tmp_path / "result")[0] == 0.1


def test_custom_logging(tmp_path):
    out = run("extensions/custom_logging.py", "-e", 3, cwd=tmp_path)
    assert "reported by hand: {'my_observer/x': 1}" in out
    assert "observers: /predictor /predictor/l1 /predictor/l2 /predictor/l3" in out
    log = json.loads((tmp_path / "result" / "log").read_text())
    assert log[-1]["validation/main/accuracy"] > 0.7
    assert {"main/predictor/sum_y", "validation/main/predictor/sum_y"} <= set(log[0])
