"""``scripts/gpu_checks.py`` and its plugin of pytest, without a GPU."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.gpu import broken_device

ROOT = Path(__file__).resolve().parents[3]

#: Starts a process that holds a lock on a file while it runs, and waits itself.
_WAITS = """
import fcntl, subprocess, sys, time
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
subprocess.Popen(["sleep", "600"], pass_fds=[file.fileno()])
try:
    time.sleep(600)
except KeyboardInterrupt:
    print("found so far")
    raise SystemExit(3)
"""


@pytest.fixture
def checks(monkeypatch):
    path = ROOT / "scripts" / "gpu_checks.py"
    spec = importlib.util.spec_from_file_location("gpu_checks", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "gpu_checks", module)
    spec.loader.exec_module(module)
    return module


def step(checks, name, program, *args, share=0.9):
    return checks.Step(name, [sys.executable, "-c", program, *map(str, args)], share)


@pytest.mark.skipif(os.name != "posix", reason="ends groups of processes")
def test_steps_that_fail_or_hang_keep_no_other_from_running(checks, tmp_path, capsys):
    fcntl = pytest.importorskip("fcntl")
    held = tmp_path / "held"
    steps = [
        step(checks, "fails", "print('what was wrong'); raise SystemExit(5)"),
        step(checks, "hangs", _WAITS, held, share=0.1),
        checks.Step("missing", [str(tmp_path / "no program")], 0.9),
        step(checks, "works", "print('all well')"),
    ]
    assert not checks.run_steps(steps, tmp_path, time.monotonic() + 80)
    summary = (tmp_path / "summary.txt").read_text()
    assert summary.strip() in capsys.readouterr().out
    lines = summary.splitlines()
    assert lines[0].startswith("fails: exit status 5")
    assert lines[1].strip() == "what was wrong"
    assert re.match("hangs: exit status 3, interrupted after [0-9]+ s", lines[2])
    assert lines[3].strip() == "found so far"
    assert lines[4].startswith("missing: exit status none, could not be started")
    assert lines[-2].startswith("works: exit status 0")
    assert (tmp_path / "works.txt").read_text().strip() == "all well"
    with open(held) as file:
        deadline = time.monotonic() + 60
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                assert time.monotonic() < deadline, "the process that the step started still runs"
                time.sleep(0.02)


def test_summary_is_there_after_each_step(checks, tmp_path):
    program = "import sys; print(open(sys.argv[1]).read())"
    steps = [
        step(checks, "first", "print(1)"),
        step(checks, "second", program, tmp_path / "summary.txt"),
    ]
    assert checks.run_steps(steps, tmp_path, time.monotonic() + 80)
    assert "first: exit status 0" in (tmp_path / "second.txt").read_text()


def test_all_steps_fit_into_the_time(checks, tmp_path):
    left = 1.0
    for planned in checks._steps(tmp_path, False, 9.5):
        assert 0 < planned.share < 1
        left *= 1 - planned.share
    assert left > 0


def test_commands_exist(checks, tmp_path):
    """The tests are collected and skipped, the benchmarks say that there is no card."""
    (tests,) = [s for s in checks._steps(tmp_path, True, 9.5) if s.name == "tests"]
    done = subprocess.run(
        [*tests.command, "--collect-only"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "test_training.py" in done.stdout


_TESTS = """
import pytest

@pytest.mark.parametrize("i", range(6))
def test(i):
    if i == 2:
        raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")
"""


def run_with_plugin(folder, *args):
    (folder / "test_it.py").write_text(_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", broken_device.__name__]
    command += ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), *args]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [*command, str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_broken_devices_without_processes(tmp_path):
    done = run_with_plugin(tmp_path, "-p", "no:xdist")
    assert "1 failed, 5 passed" in done.stdout


def test_broken_devices_cost_one_test(tmp_path):
    pytest.importorskip("xdist")
    done = run_with_plugin(tmp_path, "-n", "1", "--max-worker-restart", "5")
    assert "1 failed, 5 passed" in done.stdout
    assert "crashed while running" in done.stdout
    assert "test_it.py::test[2] broke the device" in done.stderr
    assert "an illegal memory access" in done.stderr
