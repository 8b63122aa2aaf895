"""How long threads of GNU OpenMP spin: in processes of their own, which load it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ideep4py._core.waiting import SPINS

CODE = "import os, ideep4py; print(os.environ.get('GOMP_SPINCOUNT'))"


@pytest.mark.parametrize(
    ("chosen", "spins", "left"),
    [
        ({}, str(SPINS), "None"),
        ({"GOMP_SPINCOUNT": "77"}, "77", "77"),
        ({"OMP_WAIT_POLICY": "passive"}, "0", "None"),
    ],
)
def test_threads_sleep_soon_unless_the_user_chooses(chosen, spins, left):
    environment = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", *chosen)}
    environment.pop("OMP_WAIT_POLICY", None)
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**environment, **chosen, "OMP_DISPLAY_ENV": "verbose"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    # GNU OpenMP prints its settings when it is loaded.
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr
    assert done.stdout.split() == [left]
