"""``scripts/run_tests.py`` runs failed tests once more, and nothing else."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "run_tests.py"

TESTS = """
    import os

    def count(name):
        with open(name, "a") as file:
            file.write("x")
        return os.path.getsize(name)

    def test_that_passes():
        assert count("passes") == 1

    def test_that_fails_once():
        assert count("once") == 2

    def test_that_fails():
        assert count("always") == 0
"""


def run(folder, *arguments):
    command = [sys.executable, str(SCRIPT), "-q", "-p", "no:chainer", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "test_them.py").write_text(textwrap.dedent(TESTS))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # the root of these tests
    return tmp_path


def test_a_test_that_fails_once(folder):
    done = run(folder, "-k", "passes or once", "-n", "2")
    assert done.returncode == 0, done.stdout
    assert "FAILED test_them.py::test_that_fails_once" in done.stdout
    assert "once more" in done.stdout
    assert (folder / "passes").read_text() == "x"
    named = "1 tests passed only when they were repeated:\n  test_them.py::test_that_fails_once\n"
    assert done.stdout.endswith(named)


def test_unsteady_tests_are_in_the_summary_of_the_job(folder, monkeypatch, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    run(folder, "-k", "passes or once")
    assert summary.read_text() == (
        "before\n1 tests passed only when they were repeated:\n"
        "- test_them.py::test_that_fails_once\n"
    )


def test_a_test_that_fails_twice(folder):
    assert run(folder).returncode == 1
    assert (folder / "always").read_text() == "xx"
    assert (folder / "passes").read_text() == "x"
    assert "only when they were repeated" not in run(folder).stdout


def test_tests_that_pass_are_run_once(folder):
    done = run(folder, "-k", "passes")
    assert done.returncode == 0
    assert "once more" not in done.stdout


def test_errors_of_another_kind_are_not_run_again(folder):
    (folder / "test_broken.py").write_text("import nothing_of_this_name\n")
    done = run(folder)
    assert done.returncode == 2
    assert "once more" not in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_tests_can_interrupt_programs_when_run_in_the_background(folder):
    (folder / "test_signal.py").write_text(
        textwrap.dedent("""
        import signal, subprocess, sys

        def test_default():
            code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
            assert subprocess.check_output([sys.executable, "-c", code]) == b"False\\n"
        """)
    )
    # A shell starts programs in the background with this signal ignored.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = run(folder, "-k", "default")
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == 0, done.stdout
