"""Finds and loads the oneDNN shared library, or says what is missing.

It is searched for in this order: the file named by the environment variable ``IDEEP4PY_LIBRARY``;
``libdnnl.so.3`` where the wheel ``onednn-cpu-gomp`` puts it (``lib`` below the environment's
prefix or the user base); the place that the metadata of that distribution names; the search path of
the dynamic linker.
"""

from __future__ import annotations

import os
import platform
import site
import sys
from typing import Any

from ideep4py._core import constants as C
from ideep4py._core.declarations import CDEF

SONAME = "libdnnl.so.3"
_INSTALL = 'pip install "onednn-cpu-gomp==2023.2.0"'
# Bits of dnnl_cpu_isa_t. An instruction set has the bits of all sets that it extends, so that a
# test is a mask.
_AVX2 = 0x7
_AVX512 = 0x27
_AVX512_BF16 = 0xE7


def _fail(message: str) -> ImportError:
    return ImportError(f"ideep4py: {message}", name="ideep4py")


def _candidates() -> list[str]:
    places = [os.path.join(sys.prefix, "lib", SONAME)]
    base = site.getuserbase() if site.ENABLE_USER_SITE else None
    if base:
        places.append(os.path.join(base, "lib", SONAME))
    found = [p for p in places if os.path.exists(p)]
    return found or _from_metadata()


def _from_metadata() -> list[str]:
    """The path that the installer recorded: needed after ``pip install --target``."""
    import importlib.metadata  # slow to import: only when the usual places do not have it

    try:
        files = importlib.metadata.files("onednn-cpu-gomp") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    paths = [str(f.locate()) for f in files if f.name == SONAME]
    return [p for p in paths if os.path.exists(p)]


def _open(ffi: Any) -> tuple[Any, str]:
    named = os.environ.get("IDEEP4PY_LIBRARY")
    if named:
        if not os.path.exists(named):
            raise _fail(f"IDEEP4PY_LIBRARY names {named!r}, which does not exist")
        paths = [named]
    else:
        paths = [*_candidates(), SONAME]
    problems = []
    for path in paths:
        try:
            return ffi.dlopen(path), path
        except OSError as error:
            problems.append(str(error))
    reasons = "; ".join(problems)
    if "libgomp" in reasons:
        raise _fail(
            "the oneDNN library needs GNU OpenMP (libgomp.so.1), which is not installed: install "
            f"the system package libgomp1 (Debian, Ubuntu) or libgomp (Fedora) ({reasons})"
        )
    raise _fail(f"the oneDNN library {SONAME} was not found: {_INSTALL} ({reasons})")


def _check_platform() -> None:
    machine = platform.machine()
    if machine.lower() not in ("x86_64", "amd64") or not sys.platform.startswith("linux"):
        raise _fail(
            "oneDNN's package onednn-cpu-gomp exists for Linux on x86_64 only; this is "
            f"{sys.platform} on {machine}"
        )


def _load() -> tuple[Any, Any, str, tuple[int, int, int]]:
    # The package onednn-cpu-gomp exists for one platform; a library that the user names may be for
    # any.
    if "IDEEP4PY_LIBRARY" not in os.environ:
        _check_platform()
    try:
        import cffi
    except ImportError as error:
        raise _fail(f"the package cffi is not installed: pip install cffi ({error})") from error
    ffi = cffi.FFI()
    ffi.cdef(CDEF)
    # A missing symbol is noticed at its first use only, not when the library is opened.
    lib, path = _open(ffi)
    try:
        found = lib.dnnl_version()
    except AttributeError as error:
        raise _fail(f"{path} is not a oneDNN library: {error}") from error
    version = (found.major, found.minor, found.patch)
    if found.major != 3:
        raise _fail(
            f"{path} is oneDNN {'.'.join(map(str, version))}; version 3 is needed: {_INSTALL}"
        )
    isa = lib.dnnl_get_effective_cpu_isa()
    if isa & _AVX2 != _AVX2:
        limit = os.environ.get("ONEDNN_MAX_CPU_ISA", "not set")
        raise _fail(
            f"the CPU lacks AVX2 (oneDNN reports {C.ISA_NAMES.get(isa, hex(isa))!r}; the "
            f"environment variable ONEDNN_MAX_CPU_ISA is {limit})"
        )
    return ffi, lib, path, version


ffi, lib, LIBRARY_PATH, ONEDNN_VERSION = _load()
_isa: int = lib.dnnl_get_effective_cpu_isa()
CPU_ISA: str = C.ISA_NAMES.get(_isa, "unknown")
HAS_AVX512: bool = _isa & _AVX512 == _AVX512
HAS_AVX512_BF16: bool = _isa & _AVX512_BF16 == _AVX512_BF16
NULL = ffi.NULL


def optional_symbol(name: str) -> Any:
    """Returns a C function that some builds lack (such as the OpenMP runtime's), or None."""
    try:
        return getattr(lib, name)
    except AttributeError:
        return None
