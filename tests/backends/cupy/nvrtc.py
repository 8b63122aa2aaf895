"""NVRTC of the distribution nvidia-cuda-nvrtc: compiles CUDA sources without a GPU."""

from __future__ import annotations

import ctypes
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any


@cache
def library() -> ctypes.CDLL | None:
    """Returns the library, or None where it is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for directory in () if spec is None else spec.submodule_search_locations or ():
        for path in sorted(Path(directory).glob("*/lib/libnvrtc.so.*"), reverse=True):
            return ctypes.CDLL(str(path))
    return None


class CompilationError(Exception):
    """What the compiler says."""


def compile_to_ptx(code: str, *options: str) -> str:
    """Compiles a source.

    Raises:
        CompilationError: If it has errors.
    """
    nvrtc: Any = library()
    program = ctypes.c_void_p()
    _check(
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"source.cu", 0, None, None)
    )
    try:
        words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        status = nvrtc.nvrtcCompileProgram(program, len(options), words)
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if status:
            raise CompilationError(log)
        ptx = _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if "warning" in log:
        raise CompilationError(log)
    return ptx


def _text(size_of: Any, read: Any, program: Any) -> str:
    size = ctypes.c_size_t()
    _check(size_of(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(read(program, buffer))
    return buffer.value.decode()


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"NVRTC failed with status {status}")
