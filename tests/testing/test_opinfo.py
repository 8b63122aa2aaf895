"""PyTorch's samples and the suite of the array API standard, from ``chainer certify``."""

import json
import sys

import numpy as np
import pytest

import chainer
from chainer.testing.certification.opinfo import samples, test_opinfo
from chainer.testing.certification.opinfo.row import Difference, Row, keyword
from chainer.testing.certification.opinfo.rows import ROWS
from tests.testing.planted.run import certify

EXP = Row("exp", "exp")


def test_rows_name_functions_of_chainer():
    names = {row.function for row in ROWS}
    assert names <= set(chainer.core.registry.registries.functions.names())
    # 109 functions have the same name, or an alias, in both libraries.
    assert len(names) >= 109
    assert len({(row.function, row.op) for row in ROWS}) == len(ROWS)


def test_every_difference_has_a_reason():
    assert all(difference.reason for row in ROWS for difference in row.differences)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A function that writes a sample of ``exp``, and gives a check of a row on it."""

    def write(gradient, row=EXP, difference=None, dtype="float64", **kwargs):
        x, gy = np.array([0.0, 1.0], dtype), np.array([1.0, 2.0], dtype)
        arrays = {"0": x, "1": np.exp(x), "2": gy, "3": np.asarray(gradient(x, gy))}
        np.savez(tmp_path / f"exp.{dtype}.npz", **arrays)
        sample = {
            "variant": "",
            "number": 0,
            "args": {"list": [{"array": "0"}]},
            "kwargs": {"dict": kwargs},
            "ys": {"list": [{"array": "1"}]},
            "gys": [{"array": "2"}],
            "gxs": [{"array": "3"}],
        }
        (tmp_path / f"exp.{dtype}.json").write_text(json.dumps([sample]))
        read = lambda op, dtype: samples.read(tmp_path, op, dtype)
        monkeypatch.setattr(test_opinfo, "samples_of", read)
        test = test_opinfo.test_samples if difference is None else test_opinfo.test_differences
        test(row, dtype, difference, chainer.get_device("@numpy"))

    return write


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_same_gradient_passes(written, dtype):
    written(lambda x, gy: gy * np.exp(x), dtype=dtype)


def test_another_gradient_fails(written):
    with pytest.raises(AssertionError) as caught:
        written(lambda x, gy: gy * x)
    assert "of gradient 0" in caught.value.__notes__
    assert "OpInfo exp, sample 0: float64[2]" in caught.value.__notes__


def test_another_dtype_fails(written):
    cast = Row("exp", "exp", lambda F, x: F.cast(F.exp(x), "float32"))
    with pytest.raises(AssertionError, match="output 0 is float32, expected float64"):
        written(lambda x, gy: gy * np.exp(x), cast)


def test_a_declared_difference(written):
    row = Row("exp", "exp", differences=(keyword("scale", "no scale"),))
    with pytest.raises(AssertionError, match="^no scale$"):
        written(lambda x, gy: gy, row, difference=0, scale=2.0)


def test_a_difference_that_is_not_one(written):
    row = Row("exp", "exp", differences=(Difference("other values", lambda given: True),))
    with pytest.raises(pytest.fail.Exception, match="declared wrongly: other values"):
        written(lambda x, gy: gy * np.exp(x), row, difference=0)


def test_a_python_without_pytorch(tmp_path):
    empty = tmp_path / "python"
    empty.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E -I "$@"\n')
    empty.chmod(0o755)
    done = certify(tmp_path, "numpy", "--opinfo", str(empty), "--only", "nothing")
    assert done.returncode == 2
    assert "No module named" in done.stderr
    assert f"{empty} -m pip install torch numpy expecttest" in done.stderr


@pytest.mark.slow
def test_all_samples(tmp_path):
    for module in ("torch", "expecttest"):
        pytest.importorskip(module)
    done = certify(tmp_path, "numpy", "--opinfo", "--only", "opinfo")
    assert done.returncode == 0, done.stdout
    assert "OpInfo of PyTorch" in done.stdout


# -- the standard -------------------------------------------------------------------------------

CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--disable-deadline", action="store_true")
    try:
        parser.addoption("--hypothesis-seed")
    except ValueError:
        pass  # hypothesis is installed
"""

STANDARD = """
import importlib, os

xp = importlib.import_module(os.environ["ARRAY_API_TESTS_MODULE"])


def test_sum(request):
    assert float(xp.sum(xp.ones(3))) == 3
    assert os.environ["ARRAY_API_TESTS_VERSION"] == "2024.12"
    assert request.config.getoption("--disable-deadline")


def test_no_such_function():
    xp.no_such_function
"""


def test_the_suite_of_the_standard(tmp_path):
    suite = tmp_path / "suite"
    (suite / "array_api_tests").mkdir(parents=True)
    (suite / "conftest.py").write_text(CONFTEST)
    (suite / "array_api_tests" / "__init__.py").touch()
    (suite / "array_api_tests" / "test_statistics.py").write_text(STANDARD)
    (tmp_path / "hypothesis.py").touch()
    done = certify(tmp_path, "numpy", "--array-api-tests", str(suite), "--only", "test_statistics")
    report = json.loads((tmp_path / "certificate" / "certificate.json").read_text())
    assert done.returncode == 1, done.stderr
    assert report["places"] == ["array API: statistics"]
    assert report["total"]["passed"] == report["total"]["failed"] == 1
    assert "no_such_function" in done.stdout
    facts = report["facts"]["array API standard: backend numpy"]
    assert facts["version of the standard"] == "2024.12"
    assert set(report["not_run"]) == {"PyTorch's OpInfo"}


def test_a_folder_without_the_suite(tmp_path):
    done = certify(tmp_path, "numpy", "--array-api-tests", str(tmp_path))
    assert done.returncode == 2
    assert "the folder has no array_api_tests; get it by: git clone" in done.stderr
