"""What NVRTC does: CUDA C++ becomes a module, here a shared object made by g++.

A kernel is compiled once; the file stays in the cache, named by a hash of text and headers.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

from . import build, state

_SHARED = re.compile(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s*)?([\w:<>, ]+?)\s+(\w+)\[\];")
_WAITS = re.compile(r"__sync|__shfl|__shared__|emulation::shared|cooperative")
_KERNEL = re.compile(
    r'extern\s+"C"\s+(?:__global__\s+void|void\s+__global__)\s+'
    r"(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\("
)
# Sources of Chainer's own have no headers, and ask for this.
_OURS = "CHAINER_EMULATION"


class CompileError(Exception):
    """The compiler's complaints."""


def compile(
    source: str, options: tuple[str, ...], names: Any
) -> tuple[bytes, dict[str, str] | None]:
    """Compiles a source.

    Returns:
        The path of the module for the driver, and for each C++ expression in ``names`` the name of
        its kernel.
    """
    defines = [option for option in options if option.startswith("-D")]
    ours = _OURS in source
    source = _SHARED.sub(r"\1* const \2 = (\1*)emulation::shared;", source)
    with_fibers = "true" if _WAITS.search(source) else "false"
    searched = _expanded(source, defines) if ours else source
    kernels = {name: name for name in _KERNEL.findall(searched)}
    mapping = {expression: f"expression_{i}" for i, expression in enumerate(names or ())}
    kernels |= {name: f"&{expression}" for expression, name in mapping.items()}
    head = f'#define {_OURS}\n#include "device.hpp"\n' if ours else '#include "cupy_device.hpp"\n'
    tail = [f"EMULATION_KERNEL({k}, {with_fibers}, {e})\n" for k, e in kernels.items()]
    path = _module(f"{head}{source}\n{''.join(tail)}", defines)
    return f"{path}\0".encode(), mapping or None


def _expanded(source: str, defines: list[str]) -> str:
    """Returns a source whose macros are expanded: names of kernels may be made by macros."""
    keep = ["-D__global__=__global__", "-D__launch_bounds__(x)="]
    command = ["g++", "-std=c++17", "-E", "-P", "-x", "c++", *keep, *defines, "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(done.stderr)
    return done.stdout


def _module(text: str, defines: list[str]) -> Path:
    key = hashlib.sha256(repr((text, defines, state.headers_hash())).encode()).hexdigest()
    folder = build.cache_folder() / "kernels" / key[:2]
    final = folder / f"{key[2:32]}.so"
    if final.exists():
        return final
    folder.mkdir(parents=True, exist_ok=True)
    mine = f"{key[2:32]}.{os.getpid()}.{threading.get_ident()}"
    source, output = folder / f"{mine}.cpp", folder / f"{mine}.part"
    source.write_text(text)
    flags = ["-shared", *build.KERNEL_FLAGS, *defines, *state.facts()["include"]]
    command = ["g++", *flags, str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    source.unlink()
    if done.returncode:
        raise CompileError(done.stderr)
    output.replace(final)
    return final


class Program:
    """Takes the place of ``cupy.cuda.compiler._NVRTCProgram``."""

    def __init__(
        self, src, name="", headers=(), include_names=(), name_expressions=None, method="ptx"
    ):
        self.src = src.decode() if isinstance(src, bytes) else src
        self.name = name
        self._expressions = name_expressions

    def compile(self, options=(), log_stream=None):
        if not self.src:
            return b"// nothing", None
        try:
            return compile(self.src, options, self._expressions)
        except CompileError as error:
            from cupy.cuda.compiler import CompileException

            raise CompileException(str(error), self.src, self.name, options) from None
