"""The conformance suite finds every kind of fault it is there to find."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chainer.testing.conformance import reports
from tests.testing.broken_strict import FINDS
from tests.testing.sample_functions import EXPECTED

ROOT = Path(__file__).parents[2]
SUITE = "chainer.testing.conformance"


def run_suite(*arguments, xdist=False, **variables):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", **variables}
    command = [sys.executable, "-m", "pytest", "-q", "-rfEX", "--tb=line", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, "--rootdir", str(ROOT)]
    command += ["-n2"] if xdist else ["-p", "no:xdist"]
    if "chainer.testing.pytest_plugin" not in sys.modules:
        command += ["-p", "chainer.testing.pytest_plugin"]
    return subprocess.run(
        [*command, "--pyargs", SUITE, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


SPECS = "--chainer-specs=tests.testing.sample_functions:SPECS"


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


def test_quick_run_does_not_judge_lines_about_other_dtypes(tmp_path):
    path = tmp_path / "xfail.txt"
    path.write_text("test_forward[wrong_forward-float64-*]  # wrong\n")
    options = [SPECS, f"--chainer-xfail={path}", "-k", "wrong_forward"]
    assert "no test fits" not in run_suite(*options, "--chainer-quick").stdout
    assert "no test fits" not in run_suite(*options).stdout


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


# -- the contract ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FINDS)
def test_contract_finds_the_fault(fault):
    result = run_suite(
        *("-p", "tests.testing.broken_strict", SPECS),
        *("--chainer-backend=strict:1", "-k", "contract and not training and not new_process"),
        FAULT=fault,
    )
    failed = set(re.findall(r"^FAILED \S*::(test_\w+)", result.stdout, re.M))
    assert FINDS[fault] in failed, result.stdout[-3000:]


def test_contract_has_its_tests():
    listed = run_suite(SPECS, "--collect-only", "-k", "contract").stdout
    tests = set(re.findall(r"^chainer\S*::(test_\w+)", listed, re.M))
    assert len(tests) >= 100


# -- the summary ----------------------------------------------------------------------------------


def test_summary_and_report(tmp_path):
    xfail = tmp_path / "xfail.txt"
    xfail.write_text("test_refuses[accepts_anything]  # accepts anything\n")
    arguments = [SPECS, f"--chainer-xfail={xfail}", "-k", "accepts_anything or wrong_forward"]
    path = tmp_path / "report.json"
    result = run_suite(*arguments, f"--chainer-report={path}")
    report = json.loads(path.read_text())
    assert report["backend"] == "numpy"
    assert report["versions"]["numpy"]
    assert report["total"]["expected failures"] == 1
    assert report["expected_failures"] == {"test_refuses[accepts_anything]": "accepts anything"}
    assert report["groups"]["operations: refusals of bad inputs"]["expected failures"] == 1
    forward = report["groups"]["operations: forward"]
    assert forward["failed"] == len([t for t in report["failed"] if t.startswith("test_forward[")])
    assert forward["failed"] > 0
    passed, failed = (
        int(re.search(rf"(\d+) {word}", result.stdout)[1]) for word in ("passed", "failed")
    )
    assert (report["total"]["passed"], report["total"]["failed"]) == (passed, failed)

    markdown = tmp_path / "report.md"
    result = run_suite(*arguments, f"--chainer-report={markdown}")
    table = markdown.read_text()
    assert table.startswith("# Chainer conformance of @numpy\n\n| group ")
    assert re.search(r"^\| operations in float64 +\| +\d+ \|", table, re.M)
    assert re.search(r"^\| operations, strided arrays +\| +\d+ \|", table, re.M)
    assert table.partition("\n\n")[2].strip() in result.stdout


def test_groups():
    operations = "x/conformance/test_operations.py::"
    assert reports.groups_of(f"{operations}test_double_backward[a-b-float16-zero-dim]") == [
        "operations: double backward",
        "operations in float16",
        "operations, zero-dim arrays",
    ]
    assert reports.groups_of(f"{operations}test_refuses[relu]") == [
        "operations: refusals of bad inputs"
    ]
    assert reports.groups_of("conformance/test_contract_devices.py::test_a[0]") == [
        "contract: devices"
    ]


def test_quick_tests_one_dtype():
    options = ["--chainer-quick", "--collect-only", "-k", "test_operations"]
    listed = run_suite(SPECS, *options).stdout
    assert "test_backward[two_outputs-float32-strided]" in listed
    assert "test_backward[two_outputs-float16-strided]" not in listed
    assert "test_backward[right-float16-strided]" in listed  # it has no float32
    assert "float64" not in listed


@pytest.mark.parametrize("xdist", [False, True])
def test_kernels_of_a_provider_are_counted(tmp_path, xdist):
    if xdist:
        pytest.importorskip("xdist")
    # A provider of a kernel for a function that is tested, and of one that no test reaches.
    (tmp_path / "a_provider.py").write_text(
        "import numpy, chainer\n"
        "from chainer.backends.numpy.kernels.activations import SoftmaxKernel\n"
        "from chainer.core.arrays.kernel import Kernel, register_kernel\n"
        "class Pack:\n"
        "    def chainer_kernels(self, registry):\n"
        "        for operation in ('softmax', 'relu'):\n"
        "            register_kernel(Kernel(operation, numpy.ndarray, 'mine', SoftmaxKernel), "
        "registry)\n"
        "chainer.plugins.register(Pack())\n"
    )
    result = run_suite(
        *("-p", "a_provider", "--chainer-provider=mine", "-k", "test_forward and [softmax-"),
        "--chainer-specs=chainer.testing.specs.activation:SPECS",
        xdist=xdist,
        PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]),
    )
    assert "Chainer conformance of @numpy, kernels of mine" in result.stdout
    assert "Kernels that served a call: 1 of 2." in result.stdout, result.stdout[-2000:]
    assert "Never chosen: relu/mine/numpy:ndarray." in result.stdout


# -- installed ------------------------------------------------------------------------------------


def test_runs_anywhere_without_our_tests(tmp_path):
    """The package alone, with a backend beside it, from a directory of its own."""
    site, folder = tmp_path / "site", tmp_path / "elsewhere"
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "chainer", site / "chainer", ignore=ignored)
    source = ROOT / "tests/strict_backend/src/chainer_strict_backend"
    shutil.copytree(source, site / "chainer_strict_backend", ignore=ignored)
    info = site / "chainer_strict_backend-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chainer-strict-backend\n")
    entry = "[chainer]\nstrict = chainer_strict_backend.pack\n"
    (info / "entry_points.txt").write_text(entry)
    (folder / "xfail.txt").write_text("test_forward[relu-float32-*]  # not at all\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", SUITE]
    if "chainer.testing.pytest_plugin" not in sys.modules:
        command += ["-p", "chainer.testing.pytest_plugin"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CHAINER_", "PYTEST"))}
    result = subprocess.run(
        [*command, "--chainer-backend=strict", "--chainer-xfail=xfail.txt"]
        + ["--chainer-report=report.md", "-k", "contract_devices or (relu and float32)"],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Chainer conformance of @strict" in result.stdout, result.stdout + result.stderr
    failed = re.findall(r"^FAILED \S*::(\S+)", result.stdout, re.M)
    assert failed
    assert all(name.startswith("test_forward[relu-float32-") for name in failed)
    assert "| contract: devices " in (folder / "report.md").read_text()
