"""Runs the programs under examples/ the way a user does."""

import os
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(program, *args, cwd, expect=0):
    """Runs a program and returns what it printed."""
    env = dict(os.environ, MPLBACKEND="Agg", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error::DeprecationWarning",
            str(EXAMPLES / program),
            *map(str, args),
        ],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + (done.stderr if expect else "")


def table(out):
    """Returns the rows of a PrintReport: those that begin with an epoch and a number."""
    rows = [line.split() for line in out.splitlines()]
    return [
        row
        for row in rows
        if len(row) > 1 and row[0].isdigit() and row[1].replace(".", "", 1).isdigit()
    ]
