"""The conformance suite finds every kind of fault it is there to find."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import chainer
from chainer.testing import Sample
from chainer.testing.conformance import options, reports
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


# -- what is declared -----------------------------------------------------------------------------


def run_limited(limitations, *arguments, refused=""):
    return run_suite(
        *("-p", "tests.testing.limited_strict", "--chainer-backend=strict:1", SPECS, *arguments),
        LIMITATIONS=json.dumps(limitations),
        REFUSED=refused,
    )


def test_declared_limitations_are_refusals(tmp_path):
    path = tmp_path / "report.json"
    options = ("-k", "right and float16", f"--chainer-report={path}")
    result = run_limited({"float16": "narrow"}, *options, refused="float16")
    assert result.returncode == 0, result.stdout
    report = json.loads(path.read_text())
    assert set(report["refused"].values()) == {"declared: no float16 (narrow)"}
    assert report["total"]["refused as declared"] == len(report["refused"]) >= 9


def test_undeclared_limitations_are_failures():
    result = run_limited({}, "-k", "right and float16", refused="float16")
    assert result.returncode == 1
    assert "strict has no float16" in result.stdout


def test_declared_limitations_must_be_true():
    result = run_limited({"F.right:float64": "wide"}, "-k", "right")
    failed = re.findall(r"^FAILED \S*::(\S+)", result.stdout, re.M)
    assert failed
    assert all("[right-float64-" in name for name in failed)
    assert "[XPASS(strict)] declared: no F.right:float64 (wide)" in result.stdout


def test_wrong_results_are_not_refusals():
    result = run_limited({"F.wrong_forward": "wrong"}, "-k", "test_forward and wrong_forward")
    assert result.returncode == 1
    assert "absolute error" in result.stdout


def test_precise_float64_and_deterministic_make_tests_tolerant():
    chosen = ("-k", "test_forward and (inexact or unsteady) and contiguous")
    failed = set(re.findall(r"^FAILED \S*::(\S+)", run_limited({}, *chosen).stdout, re.M))
    assert "test_forward[inexact-float64-contiguous]" in failed
    assert "test_forward[unsteady-float64-contiguous]" in failed
    declared = {"precise_float64": "float32 inside", "deterministic": "atomic sums"}
    assert run_limited(declared, *chosen).returncode == 0


@pytest.mark.parametrize(
    ("limitations", "message"),
    [
        ({"floa16": "reason"}, "no test needs such a capability; did you mean 'float16'?"),
        ({"float16": ""}, "must map names of capabilities to reasons"),
        (["float16"], "must map names of capabilities to reasons"),
    ],
)
def test_malformed_declarations_are_refused(limitations, message):
    result = run_limited(limitations, "-k", "right")
    assert result.returncode == 4
    assert message in result.stdout + result.stderr


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
    arguments = [SPECS, "-k", "accepts_anything or wrong_forward"]
    path = tmp_path / "report.json"
    result = run_suite(*arguments, f"--chainer-report={path}")
    report = json.loads(path.read_text())
    assert report["backend"] == "numpy"
    assert report["versions"]["numpy"]
    assert report["refused"] == {}
    assert report["groups"]["operations: refusals of bad inputs"]["failed"] == 1
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


_ALL = [(i, 0) for i in range(27)]


@pytest.mark.parametrize(
    ("test", "layout", "is_quick", "count", "expected"),
    [
        ("test_forward", "contiguous", True, 27, _ALL),
        ("test_backward", "contiguous", True, 27, _ALL),
        ("test_double_backward", "contiguous", True, 27, [(0, 0), (13, 0), (26, 0)]),
        ("test_double_backward", "contiguous", True, 1, [(0, 0)]),
        ("test_backward", "empty", True, 4, [(0, 0), (1, 0), (3, 0)]),
        ("test_forward", "strided", True, 5, [(0, 1), (2, 2), (4, 3)]),
        ("test_backward", "strided", True, 2, [(0, 1), (1, 2), (0, 3)]),
        ("test_double_backward", "strided", True, 1, [(0, 1), (0, 2), (0, 3)]),
        ("test_double_backward", "strided", False, 2, [(i, v) for i in (0, 1) for v in (1, 2, 3)]),
        ("test_double_backward", "contiguous", False, 27, _ALL),
    ],
)
def test_cases(test, layout, is_quick, count, expected):
    samples = [Sample(label=str(i)) for i in range(count)]
    place = chainer.get_device("@numpy")
    taken = options.cases(samples, test, layout, "float32", place, is_quick=is_quick)
    assert [(int(sample.label), variant) for sample, variant in taken] == expected


@pytest.mark.parametrize(
    ("test", "layout", "is_quick", "count", "expected"),
    [
        ("test_forward", "contiguous", True, 27, [(0, 0), (26, 0)]),
        ("test_backward", "contiguous", True, 1, [(0, 0)]),
        ("test_double_backward", "contiguous", True, 27, [(0, 0)]),
        ("test_backward", "empty", True, 4, [(0, 0)]),
        ("test_forward", "strided", True, 5, [(0, 1)]),
        ("test_forward", "contiguous", False, 27, _ALL),
        ("test_double_backward", "strided", False, 2, [(i, v) for i in (0, 1) for v in (1, 2, 3)]),
    ],
)
def test_cases_of_a_backend_that_compiles(monkeypatch, test, layout, is_quick, count, expected):
    place = chainer.get_device("@numpy")
    monkeypatch.setattr(type(place.backend), "compiles_each_shape", True)
    samples = [Sample(label=str(i)) for i in range(count)]
    taken = options.cases(samples, test, layout, "float32", place, is_quick=is_quick)
    assert [(int(sample.label), variant) for sample, variant in taken] == expected


def test_reports_say_what_is_left_out(monkeypatch):
    place = chainer.get_device("@numpy")
    assert "more than 3 samples of a function for gradients" in options.left_out(place)
    monkeypatch.setattr(type(place.backend), "compiles_each_shape", True)
    assert "more than 2 samples of a function, and more than one" in options.left_out(place)


def test_layouts_of_strided_arrays_in_other_dtypes():
    samples = [Sample(label=str(i)) for i in range(3)]
    place = chainer.get_device("@numpy")
    taken = options.cases(samples, "test_forward", "strided", "float16", place, is_quick=True)
    assert [(sample.label, variant) for sample, variant in taken] == [("0", 1), ("1", 2)]


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
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", SUITE]
    if "chainer.testing.pytest_plugin" not in sys.modules:
        command += ["-p", "chainer.testing.pytest_plugin"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CHAINER_", "PYTEST"))}
    result = subprocess.run(
        [*command, "--chainer-backend=strict"]
        + ["--chainer-report=report.md", "-k", "contract_devices or (relu and float32)"],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Chainer conformance of @strict" in result.stdout, result.stdout + result.stderr
    assert result.returncode == 0, result.stdout
    assert "| contract: devices " in (folder / "report.md").read_text()
