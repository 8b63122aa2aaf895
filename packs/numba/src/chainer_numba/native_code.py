"""Machine code from code of LLVM, kept on disk."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

#: Bytes of the digest in front of compiled code on disk.
_DIGEST = 20

#: Compiled code stays in memory: programs have addresses in it.
_engines: list[Any] = []


@cache
def _target() -> tuple[Any, str]:
    """Returns the description of this machine, and a text that tells it from others."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    version = ".".join(map(str, llvm.llvm_version_info))
    return (target, cpu, features), f"{target.triple} {cpu} {features} {version}"


def loaded(code: str, *names: str) -> list[int]:
    """Compiles code of LLVM, or finds it on disk; returns the addresses of functions.

    Args:
        code: The code. Functions of C that it calls are known to LLVM by ``llvm.add_symbol``.
        names: Names of the functions.
    """
    (target, cpu, features), description = _target()
    machine = target.create_target_machine(cpu=cpu, features=features, opt=2, jit=True)
    module = llvm.parse_assembly(code)
    engine = llvm.create_mcjit_compiler(module, machine)
    key = hashlib.blake2b(f"{description}\n{code}".encode(), digest_size=_DIGEST).hexdigest()
    path = _folder() / f"{key}.o"

    def kept(_: Any, compiled: bytes) -> None:
        # A folder that cannot be written: the next process compiles again.
        with suppress(OSError):
            _write(path, _digest(compiled) + compiled)

    def found(_: Any) -> bytes | None:
        try:
            content = path.read_bytes()
        except OSError:
            return None
        # A damaged file must not run.
        compiled = content[_DIGEST:]
        return compiled if content[:_DIGEST] == _digest(compiled) else None

    engine.set_object_cache(kept, found)
    engine.finalize_object()
    _engines.append(engine)
    return [engine.get_function_address(name) for name in names]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _folder() -> Path:
    """Returns the folder of compiled code; ``NUMBA_CACHE_DIR`` sets it, as for other code."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / "chainer_loops"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "chainer" / "loops"


def _write(path: Path, content: bytes) -> None:
    """Writes a file under another name first: another process may read it meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(name, path)
