"""Running the CUDA kernels without CUDA: compiled by a C++ compiler, on NumPy arrays.

The kernel classes of the backend run unchanged on top of it, so that indexes, arguments and their
types are checked wherever there is a C++ compiler.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy

from chainer.backends.cupy import compiler

HEADER = Path(__file__).with_name("emulation") / "emulation.hpp"
_KERNEL = re.compile(r'extern "C"\s+void (\w+)\(([^)]*)\)')


@cache
def cxx() -> str | None:
    """Returns the C++ compiler, or None where there is none that will do."""
    path = next(filter(None, map(shutil.which, ("g++", "clang++"))), None)
    if path is None:
        return None
    probe = "#include <ucontext.h>\n_Float16 half; int main() {}"
    options = [path, "-x", "c++", "-std=c++17", "-fsyntax-only", "-"]
    done = subprocess.run(options, input=probe, text=True, capture_output=True, check=False)
    return path if done.returncode == 0 else None


@cache
def _directory() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="emulation-")


def _run(*args: str, text: str | None = None) -> str:
    done = subprocess.run(args, input=text, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(args)} failed:\n{done.stderr}")
    return done.stdout


def _stub(name: str, parameters: list[str]) -> str:
    """Returns C++ code that launches a kernel, given pointers to its arguments."""
    types = [re.sub(r"\w+$", "", p.strip()).strip() for p in parameters]
    arguments = ", ".join(f"*({t}*)args[{i}]" for i, t in enumerate(types))
    kinds = ", ".join(f"Kind<{t}>::value, Kind<{t}>::element" for t in types)
    sizes = ", ".join(f"Kind<{t}>::size" for t in types)
    return (
        f'extern "C" const char kinds_{name}[] = {{{kinds}, 0}};\n'
        f'extern "C" const int sizes_{name}[] = {{{sizes}, -1}};\n'
        f'extern "C" const char* launch_{name}(const int* grid, const int* block, void** args) {{\n'
        f"  auto call = [](void** args) {{ {name}({arguments}); }};\n"
        f"  return emulation::launch(grid, block, call, args);\n}}\n"
    )


class Kernel:
    """One kernel, called as ``cupy.RawKernel`` is.

    Args:
        library: Compiled source.
        name: Name of the kernel.

    Attributes:
        reversed: Whether blocks and threads run in descending order.
        atomics: Number of atomic operations in all launches, of all kernels.
    """

    reversed = False
    atomics = 0

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self.name = name
        self._launch = getattr(library, f"launch_{name}")
        self._launch.restype = ctypes.c_char_p
        self._reverse = library.reverse_order
        self._count = library.count_atomics
        self._count.restype = ctypes.c_longlong
        kinds = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, f"kinds_{name}")))
        self._kinds = kinds.decode()
        count = len(self._kinds) // 2
        self._sizes = list((ctypes.c_int * count).in_dll(library, f"sizes_{name}"))

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]
    ) -> None:
        assert len(args) == len(self._sizes), f"{self.name} takes {len(self._sizes)} arguments"
        assert all(n >= 1 for n in (*grid, *block)), f"{self.name}: {grid}, {block}"
        assert grid[0] < 1 << 31 and all(n < 1 << 16 for n in grid[1:])
        keep = [self._argument(i, arg) for i, arg in enumerate(args)]
        assert sum(self._bytes(i) for i in range(len(args))) <= 4096
        self._reverse(self.reversed)
        pointers = (ctypes.c_void_p * len(keep))(*[b.ctypes.data for b in keep])
        before = self._count()
        error = self._launch(_dimensions(grid), _dimensions(block), pointers)
        Kernel.atomics += self._count() - before
        if error is not None:
            raise RuntimeError(f"{self.name}: {error.decode()}")

    def _bytes(self, i: int) -> int:
        return 8 if self._kinds[2 * i] == "p" else self._sizes[i]

    def _argument(self, i: int, arg: Any) -> Any:
        """Returns the bytes of an argument, as CuPy passes it, if it fits the parameter."""
        kind, element, size = self._kinds[2 * i], self._kinds[2 * i + 1], self._sizes[i]
        what = f"argument {i} of {self.name}: {arg!r} for {kind}{size}"
        if isinstance(arg, numpy.ndarray) and arg.dtype.fields is None:
            assert kind == "p", what
            # The others take elements that lie side by side only.
            strided = self.name in ("sum_rows", "sum_columns")
            strided |= self.name.endswith("_step_backward") and arg.strides[1] == size
            assert arg.itemsize == size and (strided or arg.flags.c_contiguous), what
            letter = "s" if arg.itemsize == 2 and arg.dtype.kind in "fV" else arg.dtype.kind
            assert letter.replace("u", "i") == element, what
            return numpy.array(arg.ctypes.data, numpy.uint64)
        if arg is None:
            assert kind == "p", what
            return numpy.array(0, numpy.uint64)
        if isinstance(arg, numpy.void):
            assert kind == "s" and arg.nbytes == size, what
            return numpy.array(arg)
        dtype = {bool: "?", int: "<i8", float: "<f8"}[type(arg)]
        value = numpy.array(arg, dtype)
        assert value.dtype.kind == kind and value.itemsize == size, what
        return value


def _dimensions(sizes: tuple[int, ...]) -> Any:
    x, y, *rest = (*sizes, 1)
    assert all(n == 1 for n in rest)
    return (ctypes.c_int * 2)(x, y)


class Module:
    """A compiled source, as ``cupy.RawModule`` is."""

    def __init__(self, name: str, types: compiler.Types) -> None:
        code = compiler.source_code(name, types)
        path = cxx()
        assert path is not None
        options = [path, "-std=c++17", "-O0", "-fwrapv", "-w", "-x", "c++"]
        names = ("global", "device", "shared", "forceinline")
        shown = [f"-D__{word}__=" for word in names] + ["-DCHAINER_EMULATION"]
        # Kernels may be made by macros, so that they are seen after the preprocessor only.
        kernels = _KERNEL.findall(
            " ".join(_run(*options, *shown, "-E", "-P", "-", text=code).split())
        )
        assert kernels, f"no kernels in {name}"
        stubs = "\n".join(_stub(kernel, p.split(",")) for kernel, p in kernels)
        whole = f'#include "{HEADER}"\n{code}\n{stubs}'
        digest = hashlib.sha256(whole.encode()).hexdigest()[:16]
        shared = Path(_directory().name) / f"{name}-{digest}-{os.getpid()}.so"
        _run(*options, "-shared", "-fPIC", "-o", str(shared), "-", text=whole)
        self._library = ctypes.CDLL(str(shared))
        self.names = [kernel for kernel, _ in kernels]

    def get_function(self, name: str) -> Kernel:
        return Kernel(self._library, name)


class _Random:
    """``cupy.random`` as far as kernels use it."""

    def random_sample(self, size: Any = None, dtype: Any = float) -> Any:
        return numpy.random.random_sample(size).astype(dtype)


class _Namespace:
    """NumPy with the few functions in which CuPy differs."""

    random = _Random()

    def __getattr__(self, name: str) -> Any:
        return getattr(numpy, name)


def backend() -> Any:
    """Returns what kernels take for a backend: its arrays are NumPy's."""
    return SimpleNamespace(name="emulated", xp=_Namespace())


def address(array: Any) -> int:
    """Returns where an array begins."""
    return array.ctypes.data
