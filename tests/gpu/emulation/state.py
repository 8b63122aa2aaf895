"""What a process in the emulation knows about it: the environment that ``__main__`` has set."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = "CHAINER_EMULATION"


def active() -> bool:
    """Tells whether this process runs in the emulation."""
    return FOLDER in os.environ


def folder() -> Path:
    """Returns the folder of the build."""
    return Path(os.environ[FOLDER])


@cache
def facts() -> dict[str, Any]:
    """Returns what was determined when the libraries were built."""
    return json.loads((folder() / "build.json").read_text())


@cache
def headers_hash() -> str:
    """Returns a hash of how every kernel is compiled, and what with."""
    digest = hashlib.sha256(repr((facts()["flags"], facts()["versions"])).encode())
    for path in sorted((Path(__file__).parent / "include").iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def library() -> ctypes.CDLL:
    """Returns the emulated driver and runtime."""
    return ctypes.CDLL(str(folder() / "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
