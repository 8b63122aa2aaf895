"""Runs pytest, and once more the tests that failed, one after the other.

    python scripts/run_tests.py -n auto -q tests

Some tests use terminals, signals, deadlines and other processes. Of tens of thousands, one of them
fails now and then on a busy machine. A test that fails twice fails. Those that passed when they
were repeated are named at the end, and in the summary of a job on GitHub: each is a test to repair.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

#: Exit status of pytest if tests were run and some of them failed.
FAILED = 1

#: Options of the second run. They come last, and replace what was given before.
AGAIN = ["--last-failed", "--last-failed-no-failures", "none", "-n", "0"]


def main(arguments: list[str]) -> int:
    """Runs the tests.

    Args:
        arguments: Arguments of pytest.

    Returns:
        int: Exit status of pytest.
    """
    # Programs that a shell starts in the background ignore SIGINT, and so do those that they start.
    # Tests interrupt programs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "pytest", *arguments]
    status = subprocess.run(command, check=False).returncode
    # Errors of another kind, such as an interruption, leave tests out that were not run at all.
    if status != FAILED:
        return status
    before = failed_tests()
    print("The tests that failed are run once more, alone.", flush=True)
    status = subprocess.run([*command, *AGAIN], check=False).returncode
    report(before - failed_tests())
    return status


def failed_tests() -> set[str]:
    """Returns the tests that the last run of pytest in this folder recorded as failed."""
    record = Path(".pytest_cache") / "v" / "cache" / "lastfailed"
    try:
        return set(json.loads(record.read_text(encoding="utf-8")))
    except FileNotFoundError:  # nothing failed, or the cache is switched off
        return set()


def report(unsteady: set[str]) -> None:
    """Prints the tests that passed only when they were repeated."""
    if not unsteady:
        return
    lines = [f"{len(unsteady)} tests passed only when they were repeated:", *sorted(unsteady)]
    print("\n  ".join(lines), flush=True)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write("\n- ".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
