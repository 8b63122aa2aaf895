"""Runs pytest, and once more the tests that failed, one after the other.

    python scripts/run_tests.py -n auto -q tests

Some tests use terminals, signals, deadlines and other processes. Of tens of thousands, one of them
fails now and then on a busy machine. A test that fails twice fails. Both runs print what failed.
"""

from __future__ import annotations

import signal
import subprocess
import sys

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
    print("The tests that failed are run once more, alone.", flush=True)
    return subprocess.run([*command, *AGAIN], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
