"""What the emulation needs, found or missed before anything is built."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

CUPY = "cupy-cuda13x"
CUPY_VERSION = "14."
HEADERS = {
    "nvidia-cuda-runtime": "cuda_fp16.h",
    "nvidia-cuda-crt": "crt/host_defines.h",
}


def missing() -> str | None:
    """Returns one line about the first thing that is missing, or None."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"it runs on Linux on x86-64, this is {sys.platform} on {platform.machine()}"
    for program in ("gcc", "g++", "nm"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return _missing_cupy() or _missing_headers()


def _missing_cupy() -> str | None:
    version = _version(CUPY)
    if version is None:
        other = " (another CuPy is installed)" if importlib.util.find_spec("cupy") else ""
        return f"{CUPY} is not installed{other}: pip install '{CUPY}=={CUPY_VERSION}*'"
    if not version.startswith(CUPY_VERSION):
        return f"{CUPY} {version} is installed, it is made for {CUPY_VERSION}*"
    if "cudaMalloc" not in runtime_functions():
        return f"no CUDA runtime is linked into {runtime_module()}, or its symbols are stripped"
    return None


def _missing_headers() -> str | None:
    found = [folder for folder in _header_folders() if (folder / "cuda_fp16.h").exists()]
    for package, name in HEADERS.items():
        version = _version(package)
        if version is None or not any((folder / name).exists() for folder in found):
            return f"CUDA's header {name} is missing: pip install '{package}==13.*'"
        if not version.startswith("13."):
            return f"{package} {version} is installed, it is made for 13.*"
    return None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _header_folders() -> list[Path]:
    return [Path(entry) / "nvidia" / "cu13" / "include" for entry in sys.path]


def versions() -> list[str]:
    """Returns the versions of the packages whose headers kernels include."""
    return [f"{package} {_version(package)}" for package in (CUPY, *HEADERS)]


def headers() -> Path:
    """Returns the folder of CUDA's headers."""
    return next(folder for folder in _header_folders() if (folder / "cuda_fp16.h").exists())


def site() -> Path:
    """Returns the folder that CuPy is installed in."""
    spec = importlib.util.find_spec("cupy_backends")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parents[1]


def runtime_module() -> Path:
    """Returns the module of CuPy's that CUDA's runtime is linked into."""
    return next((site() / "cupy_backends" / "cuda" / "api").glob("runtime.*.so"))


@cache
def runtime_functions() -> dict[str, int]:
    """Returns the functions of CUDA's runtime in that module, and where they start."""
    lines = symbols(runtime_module())
    functions = [line.split() for line in lines if " t cuda" in line or " T cuda" in line]
    return {name: int(address, 16) for address, _, name in functions}


def symbols(path: Path, *options: str) -> list[str]:
    """Returns the lines that ``nm`` prints about a file."""
    command = ["nm", *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
