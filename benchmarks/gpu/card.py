"""What card and which libraries a run was made with."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib import metadata

#: Distributions whose versions are printed.
_DISTRIBUTIONS = (
    "cupy-cuda13x",
    "cupy-cuda12x",
    "nvidia-cudnn-frontend",
    "nvidia-cudnn-cu13",
    "nvidia-cudnn-cu12",
    "numpy",
    "torch",
)


def describe_card() -> dict[str, str]:
    """Returns name, memory, driver and clocks of the first card, and versions of libraries."""
    described = {}
    if "CHAINER_EMULATION_IDLE" in os.environ:  # tests/gpu/emulation
        described["card"] = "emulated and idle: times are those of the host"
    program = shutil.which("nvidia-smi")
    if program is not None:
        query = "name,memory.total,driver_version,clocks.max.sm,clocks.max.mem"
        answer = subprocess.run(
            [program, f"--query-gpu={query}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        lines = answer.stdout.strip().splitlines()
        if answer.returncode == 0 and lines:
            described["card"] = lines[0]
    for name in _DISTRIBUTIONS:
        try:
            described[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return described
