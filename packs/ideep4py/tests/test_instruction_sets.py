"""The tests of all numbers of channels, once for each set of instructions that oneDNN has code for.

oneDNN reads ``ONEDNN_MAX_CPU_ISA`` when it is loaded: each set needs a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ideep4py

HERE = Path(__file__).parent
FILES = ["test_channels.py", "test_ops_joining.py"]
#: Value of the variable -> what ``ideep4py.CPU_ISA`` may be where float32 code is the same.
SETS = {"AVX2": ("avx2", "avx2_vnni"), "AVX512_CORE": ("avx512_core", "avx512_core_vnni")}


def run(isa: str, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "ONEDNN_MAX_CPU_ISA": isa},
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


@pytest.mark.parametrize("isa", SETS)
def test_all_numbers_of_channels(isa) -> None:
    if ideep4py.CPU_ISA in SETS[isa]:
        pytest.skip("the tests of this process run with these instructions")
    found = run(isa, "-c", "import ideep4py; print(ideep4py.CPU_ISA)").stdout.strip()
    if found not in SETS[isa]:
        pytest.skip(f"this CPU has {found}")
    paths = [str(HERE / name) for name in FILES]
    result = run(isa, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *paths)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr
