"""What makes a Python process use the emulation: hooks in the import of three modules of CuPy's.

Nothing is done before one of them is imported, and CuPy stays as it is on the disk.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path

from . import state

RUNTIME = "cupy_backends.cuda.api.runtime"
COMPILER = "cupy.cuda.compiler"
SORTING = "cupy.cuda.thrust"


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that are not imported as they are."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == SORTING:
            file = Path(__file__).with_name("sorting.py")
            return importlib.util.spec_from_file_location(fullname, file)
        if fullname not in (RUNTIME, COMPILER):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None:
            return None
        if fullname == RUNTIME:
            hook_runtime(spec.origin)
        else:
            _replace_compiler(spec.loader)
        return spec


def install() -> None:
    """Makes imports in this process go through the hooks."""
    sys.meta_path.insert(0, Finder())


def hook_runtime(path: str) -> None:
    """Maps the module and writes jumps over CUDA's runtime in it, before its code runs."""
    facts = state.facts()
    if path != facts["module"]:
        raise ImportError(f"the emulation is made for {facts['module']}, not for {path}")
    library = state.library()
    ctypes.CDLL(path)
    base = _base(path)
    for name, offset in facts["functions"].items():
        address = ctypes.c_void_p(base + offset)
        emulated = getattr(library, "emulated_" + re.sub("_(ptsz|ptds)$", "", name), None)
        if emulated is None:
            failed = library.emulation_hook_unsupported(address, name.encode())
        else:
            failed = library.emulation_hook(address, ctypes.cast(emulated, ctypes.c_void_p))
        if failed:
            raise ImportError(f"the code of {path} cannot be changed in memory")


def _base(path: str) -> int:
    """Returns the address that a module is mapped to."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, _, offset, _, _, *name = line.split(maxsplit=5)
        if name == [path]:
            return int(addresses.split("-")[0], 16) - int(offset, 16)
    raise ImportError(f"{path} is not mapped")


def _replace_compiler(loader) -> None:
    execute = loader.exec_module

    def exec_module(module):
        from .programs import Program

        execute(module)
        assert hasattr(module, "_NVRTCProgram")
        module._NVRTCProgram = Program

    loader.exec_module = exec_module
