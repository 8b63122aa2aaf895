"""The conformance suite finds every kind of fault it is there to find."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins_testing.sample_functions import EXPECTED

ROOT = Path(__file__).parents[2]
SUITE = "chainer.plugins.testing.conformance"


def run_suite(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-rfEX", "--tb=line", "-p", "no:cacheprovider"]
    command += ["-p", "no:xdist", "-c", os.devnull, "--rootdir", str(ROOT)]
    if "chainer.plugins.testing.pytest_plugin" not in sys.modules:
        command += ["-p", "chainer.plugins.testing.pytest_plugin"]
    return subprocess.run(
        [*command, "--pyargs", SUITE, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


SPECS = "--chainer-specs=tests.plugins_testing.sample_functions:SPECS"


@pytest.fixture(scope="module")
def result():
    return run_suite(SPECS, "-k", "test_operations")


@pytest.mark.parametrize("name", EXPECTED)
def test_finds_the_fault(result, name):
    failed = set(re.findall(rf"^FAILED \S*::(test_\w+)\[{name}[-\]]", result.stdout, re.M))
    assert failed == EXPECTED[name], result.stdout[-3000:]


def test_names_the_sample(result):
    failing = run_suite(SPECS, "-k", "test_forward and wrong_forward-float64-contig", "--tb=short")
    assert "Sample: float64[2, 3], float64[2, 3]" in failing.stdout
    assert "absolute error" in failing.stdout


def test_layouts_and_dtypes_become_tests(result):
    listed = run_suite(SPECS, "--collect-only").stdout
    for layout in ("contiguous", "strided", "empty", "zero-dim"):
        for dtype in ("float16", "float64"):
            assert f"test_backward[right-{dtype}-{layout}]" in listed
    assert "test_refuses[right]" in listed
    assert "test_refuses[two_outputs]" not in listed
    assert "two_outputs-float32-strided" in listed
    assert "two_outputs-float32-empty" not in listed


def test_unknown_backend_is_refused():
    result = run_suite(SPECS, "--chainer-backend=nonsense")
    assert result.returncode != 0
    assert "nonsense" in result.stdout + result.stderr


def test_unknown_provider_is_refused():
    result = run_suite(SPECS, "--chainer-provider=nonsense")
    assert result.returncode == 4
    assert "--chainer-provider=nonsense: no such provider" in result.stdout + result.stderr


def test_bad_specs_option_is_refused():
    result = run_suite("--chainer-specs=no_such_module:SPECS")
    assert result.returncode != 0
    assert "no_such_module" in result.stdout + result.stderr


def test_expected_failures_are_strict(tmp_path):
    path = tmp_path / "xfail.txt"
    path.write_text(
        "# comment\n\ntest_refuses[accepts_anything]  # accepts anything\n"
        "test_forward[right-*]  # does not fail at all\n"
    )
    result = run_suite(SPECS, f"--chainer-xfail={path}", "-k", "accepts_anything or right")
    assert "test_refuses[accepts_anything]" not in result.stdout
    failed = re.findall(r"^FAILED \S*::(\S+)", result.stdout, re.M)
    assert failed
    assert all(name.startswith("test_forward[right-") for name in failed)
    assert "[XPASS(strict)] does not fail at all" in result.stdout


def test_stale_expected_failure_is_refused(tmp_path):
    path = tmp_path / "xfail.txt"
    path.write_text("test_forward[gone-*]  # was removed\n")
    result = run_suite(SPECS, f"--chainer-xfail={path}")
    assert result.returncode == 4
    assert f"{path}:1: no test fits 'test_forward[gone-*]'" in result.stdout + result.stderr


def test_expected_failure_needs_a_reason(tmp_path):
    path = tmp_path / "xfail.txt"
    path.write_text("test_forward[right-*]\n")
    result = run_suite(SPECS, f"--chainer-xfail={path}")
    assert result.returncode == 4
    assert "needs a reason" in result.stdout + result.stderr
